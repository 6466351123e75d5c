//! [`serve`]: the daemon from its first port to its last answer.

use std::{
    cell::RefCell,
    io,
    net::{SocketAddr, TcpListener as StdListener},
    os::unix::net::UnixListener as StdUnixListener,
    path::PathBuf,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use callosum_host::{Clock, Disk, Ids, machine, peer::Peer, process::Cancel};
use callosum_mesh::journal::Journal;
use tokio::{
    net::{TcpStream, UnixListener, unix::pipe},
    sync::watch,
    task::{JoinSet, LocalSet, spawn_local},
};

use super::{
    Addresses, Instance, ListenTarget, ServerState, Serving, Unserved,
    acceptor::{Acceptor, PAUSE},
    board_worker::{BoardWorker, Warn},
    broker::Hub,
    connection,
    connection_limit::ConnectionLimiter,
    instance::Stand,
    memory::{Memory, SessionMemory},
    models::{ModelServing, Models},
    page::{self, Page, Sender},
    rate::Rates,
    routes::Door,
    serve_error::ServeError,
    sink::Sink,
    state::{GuardMetrics, Listeners, LongAnswers, LongBodies},
};
use callosum_config::{MatrixFile, SinkSetting};
use callosum_mesh::{mesh_store, presence::PresenceSource};

/// Most connections at once. For one more, the connection that has been silent for longest is
/// closed.
const MOST_CONNECTIONS: usize = 256;

/// Interval of looks at the daemon's own files.
const OWN_LOOK: Duration = Duration::from_millis(100);

/// Inputs of the daemon.
pub struct Setting {
    /// The files of this machine.
    pub disk: Disk,
    /// The clock that events are dated by.
    pub clock: Clock,
    /// Makes the ids of events.
    pub ids: Ids,
    /// The folder of the log.
    pub folder: PathBuf,
    /// The addresses to serve at.
    pub addresses: Addresses,
    /// Events per second that each connection may publish.
    pub rate: u32,
    /// Outside recipients of events.
    pub sinks: Vec<SinkSetting>,
    /// The models that are served, if any.
    pub models: Option<ModelServing>,
    /// The page, if one is served.
    pub page: Option<Arc<dyn Page>>,
    /// The memory of past sessions, if it is served.
    pub memory: Option<Arc<dyn SessionMemory>>,
    /// Metrics of the guard and the operator.
    pub guard: GuardMetrics,
    /// Roles and routes of agents.
    pub matrix: MatrixFile,
    /// Shows which agents can work.
    pub presence: PresenceSource,
    /// Receives what goes wrong while it serves.
    pub warn: Warn,
    /// Asked when it is to end.
    pub cancel: Cancel,
}

/// Serves until it is asked to end. Tells where by `ready`, once everything answers.
pub fn serve(
    instance: Instance,
    setting: Setting,
    ready: impl FnOnce(&Serving),
) -> Result<(), ServeError> {
    let instance = Rc::new(instance);
    let own = own_socket(&instance)?;
    let mut doors = Vec::new();
    let mut unserved = Vec::new();
    let wishes = [
        (Door::Events, "events", setting.addresses.events),
        (Door::Bus, "bus", setting.addresses.bus),
        (Door::Metrics, "metrics", setting.addresses.metrics),
        (Door::Page, "page", setting.addresses.page),
        (Door::Memory, "memory", setting.addresses.memory),
    ];
    for (door, what, wish) in wishes {
        let is_supplied = match door {
            Door::Page => setting.page.is_some(),
            Door::Memory => setting.memory.is_some(),
            _ => true,
        };
        if !is_supplied {
            continue;
        }
        let ListenTarget::At(address) = wish else {
            continue;
        };
        match bind(address) {
            Ok((listener, address)) => doors.push((door, listener, address)),
            Err(error) => unserved.push(Unserved {
                what: what.to_owned(),
                address: address.to_string(),
                reason: why_not(address, &error),
            }),
        }
    }
    if doors.is_empty() && !unserved.is_empty() {
        return Err(ServeError::Nothing(unserved));
    }
    let Setting {
        disk,
        clock,
        ids,
        folder,
        rate,
        sinks,
        models,
        page,
        memory,
        guard,
        matrix,
        presence,
        warn,
        cancel,
        ..
    } = setting;
    let started = clock.now().to_string();
    let name = || machine::name().unwrap_or_else(|| "unknown".to_owned());
    let open = {
        let (disk, clock, ids) = (disk.clone(), clock.clone(), ids.clone());
        let folder = folder.clone();
        Box::new(move || {
            let mesh = mesh_store::open(&disk, &clock, &ids, &folder)?;
            Ok(mesh.with_presence(presence.clone()))
        })
    };
    let keeper = BoardWorker::start(open, matrix, warn)?;
    let sinks = sinks.into_iter().map(|setting| {
        let (own, clock, ids) = (disk.clone(), clock.clone(), ids.clone());
        let place = folder.clone();
        let open = move || Journal::open(&own, &clock, &ids, &place, &name());
        Sink::start(setting, disk.clone(), folder.clone(), Box::new(open))
    });
    let sinks: Vec<Sink> = sinks
        .collect::<Result<_, _>>()
        .map_err(ServeError::Thread)?;
    let own_clock = clock.clone();
    let open = move || Journal::open(&disk, &own_clock, &ids, &folder, &name());
    let hub = Hub::open(Box::new(open), keeper)?;
    let address = |wanted: Door| {
        let mut found = doors.iter().filter(|(door, _, _)| *door == wanted);
        found.next().map(|(_, _, address)| address.to_string())
    };
    let serving = Serving {
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        socket: instance.socket().to_string_lossy().into_owned(),
        origin: hub.origin(),
        events: address(Door::Events),
        bus: address(Door::Bus),
        metrics: address(Door::Metrics),
        page: address(Door::Page),
        memory: address(Door::Memory),
        unserved,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::Runtime)?;
    let local = LocalSet::new();
    local.block_on(&runtime, async move {
        let (over, stop) = watch::channel(false);
        let hub = Rc::new(hub);
        let house = Rc::new(ServerState {
            hub: Rc::clone(&hub),
            rates: Rc::new(Rates::new(rate, tokio::time::Instant::now())),
            serving: serving.clone(),
            stop,
            cancel: cancel.clone(),
            listeners: Listeners::default(),
            long_answers: LongAnswers::default(),
            long_bodies: LongBodies::default(),
            guard,
            sinks,
            models: models.map(Models::new),
            page,
            memory: memory.map(Memory::new),
            clock: clock.clone(),
            replaced: RefCell::default(),
            tasks: RefCell::default(),
        });
        let crowd = Rc::new(ConnectionLimiter::new(MOST_CONNECTIONS));
        let mut accepting = JoinSet::new();
        for (door, listener, _) in doors {
            let mut keeper =
                Acceptor::start(listener, cancel.clone()).map_err(ServeError::Runtime)?;
            let (house, crowd) = (Rc::clone(&house), Rc::clone(&crowd));
            accepting.spawn_local(async move {
                while let Some(come) = keeper.next().await {
                    let stream = come.stream;
                    let Ok(stream) = stream
                        .set_nonblocking(true)
                        .and_then(|()| TcpStream::from_std(stream))
                    else {
                        continue;
                    };
                    let door = match come.peer {
                        // A metrics collector often runs as a user of its own, and the metrics
                        // contain no text of any agent.
                        _ if door == Door::Metrics => door,
                        Peer::Gone if come.is_ours_alone => {
                            house.hub.counts.let_in();
                            door
                        }
                        Peer::Gone => {
                            house.hub.counts.refused("gone");
                            continue;
                        }
                        // The page answers another user's program if it is the configured proxy.
                        Peer::Other if door == Door::Page => door,
                        Peer::Other => Door::Shut,
                        Peer::Own | Peer::Unknown => door,
                    };
                    let Some((guest, is_full)) = crowd.enter() else {
                        house.hub.counts.refused("full");
                        continue;
                    };
                    if is_full {
                        house.hub.counts.refused("silent");
                    }
                    // Only speed depends on it.
                    drop(stream.set_nodelay(true));
                    let (own, crowd) = (Rc::clone(&house), Rc::clone(&crowd));
                    let ends = stream.local_addr().ok().zip(stream.peer_addr().ok());
                    let sender = Sender {
                        is_other_user: come.peer == Peer::Other,
                        ends,
                    };
                    house.begin(async move {
                        if door == Door::Page {
                            page::serve(own, stream, Rc::clone(&guest), sender).await;
                        } else {
                            connection::serve(own, door, stream, Some(Rc::clone(&guest))).await;
                        }
                        crowd.leave(&guest);
                    });
                }
            });
        }
        instance.write_addresses(&serving)?;
        let own = UnixListener::from_std(own).map_err(ServeError::Runtime)?;
        let answering = answer_at_own_socket(Rc::clone(&house), Rc::clone(&instance), own, clock);
        accepting.spawn_local(answering);
        spawn_local(Rc::clone(&hub).write());
        spawn_local(Rc::clone(&hub).watch());
        ready(&serving);
        let asked = cancel
            .readable()
            .try_clone_to_owned()
            .and_then(pipe::Receiver::from_owned_fd)
            .map_err(ServeError::Runtime)?;
        asked.readable().await.map_err(ServeError::Runtime)?;
        // First it accepts no new connections, then it waits for those in progress, each within its
        // own limit.
        accepting.shutdown().await;
        over.send_replace(true);
        if let Some(page) = &house.page {
            page.stop();
        }
        house.end().await;
        Ok(())
    })
}

/// Listens at the socket that only this user may open.
fn own_socket(instance: &Instance) -> Result<StdUnixListener, ServeError> {
    instance.make_room()?;
    let path = instance.socket();
    let listener = callosum_host::socket::listen(&path).and_then(|listener| {
        use std::os::unix::fs::PermissionsExt as _;
        listener.set_nonblocking(true)?;
        // The folder is this user's alone from before; so is the socket by itself.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        Ok(listener)
    });
    let listener = listener.map_err(|source| ServeError::Socket { path, source })?;
    instance.note_socket()?;
    Ok(listener)
}

/// Answers at the daemon's own socket. Where the folder was removed under it, it is found there again; it ends
/// where another daemon has begun there since.
async fn answer_at_own_socket(
    house: Rc<ServerState>,
    instance: Rc<Instance>,
    own: UnixListener,
    clock: Clock,
) {
    let mut own = own;
    loop {
        tokio::select! {
            accepted = own.accept() => match accepted {
                Ok((stream, _)) => {
                    house.begin(connection::serve(Rc::clone(&house), Door::Socket, stream, None));
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
            () = tokio::time::sleep(OWN_LOOK) => match instance.stand() {
                Ok(Stand::InPlace) => {}
                Ok(Stand::Lost) => house.cancel.cancel(),
                // What cannot be done now is tried again at the next look.
                Ok(Stand::Removed) => {
                    let made = own_socket(&instance).ok();
                    let made = made.and_then(|listener| UnixListener::from_std(listener).ok());
                    if let Some(listener) = made {
                        own = listener;
                        house.replaced.replace(Some(clock.now().to_string()));
                        // For people and scripts; who asks finds the socket.
                        drop(instance.write_addresses(&house.serving()));
                    }
                }
                Err(_) => house.hub.counts.unreadable(),
            },
        }
    }
}

/// Listens at an address, and says at which: the system chooses a port where it is asked for any.
fn bind(address: SocketAddr) -> io::Result<(StdListener, SocketAddr)> {
    let listener = StdListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Returns the reason for which an address cannot be served, with the program that has it if that
/// is known.
fn why_not(address: SocketAddr, error: &io::Error) -> String {
    if error.kind() != io::ErrorKind::AddrInUse {
        return error.to_string();
    }
    match machine::listener(address.port()) {
        Some((pid, name)) => format!("the port is taken by `{name}` (pid {pid})"),
        None => "the port is taken by another program".to_owned(),
    }
}
