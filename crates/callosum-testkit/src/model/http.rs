//! As much of HTTP/1.1 as a model's client needs: one request a connection, whole or chunked.

use std::{
    io::{self, BufRead, Read, Write},
    time::Duration,
};

/// The most that a request's body may have.
const MOST: u64 = 64 << 20;
/// The most that a line of a request's head may have.
const LONGEST_LINE: u64 = 64 << 10;

/// A request as it came.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The value of a header, its name given in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(known, _)| known == name)?;
        Some(value)
    }

    /// Reads a request; `None` if the client went away without asking.
    ///
    /// `go_on` is called before the body is read, if the client waits for that.
    pub(crate) fn read(
        from: &mut impl BufRead,
        go_on: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<Option<Self>> {
        let first = line(from)?;
        let mut words = first.split_whitespace();
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Ok(None);
        };
        let mut request = Self {
            method: method.to_owned(),
            path: path.to_owned(),
            ..Self::default()
        };
        loop {
            let line = line(from)?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                let header = (name.to_lowercase(), value.trim().to_owned());
                request.headers.push(header);
            }
        }
        if request.header("expect").is_some() {
            go_on()?;
        }
        let is_chunked = request.header("transfer-encoding") == Some("chunked");
        request.body = if is_chunked {
            chunks(from)?
        } else {
            let length = request.header("content-length").unwrap_or("0");
            exactly(from, length.parse().map_err(|_| broken("content-length"))?)?
        };
        Ok(Some(request))
    }
}

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    from.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    let line = String::from_utf8(line).map_err(|_| broken("a line"))?;
    Ok(line.trim_end().to_owned())
}

fn exactly(from: &mut impl BufRead, length: u64) -> io::Result<Vec<u8>> {
    if length > MOST {
        return Err(broken("the body's length"));
    }
    let mut body = vec![0; length as usize];
    from.read_exact(&mut body)?;
    Ok(body)
}

fn chunks(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(from)?;
        let size = size.split(';').next().unwrap_or_default();
        let size = u64::from_str_radix(size, 16).map_err(|_| broken("a chunk's size"))?;
        if body.len() as u64 + size > MOST {
            return Err(broken("the body's length"));
        }
        body.extend(exactly(from, size)?);
        line(from)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what} cannot be read"))
}

/// Writes a whole answer, after which the connection ends.
pub(crate) fn answer(
    to: &mut impl Write,
    status: u16,
    headers: &[(&str, String)],
    body: &[u8],
) -> io::Result<()> {
    let length = body.len();
    let mut head = format!(
        "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n"
    );
    for (name, value) in headers {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    to.write_all(head.as_bytes())?;
    to.write_all(body)?;
    to.flush()
}

/// Begins a streamed answer; it is chunked, so that one that was cut cannot pass for whole.
pub(crate) fn begin_stream(to: &mut impl Write, content_type: &str) -> io::Result<()> {
    write!(
        to,
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncache-control: no-cache\r\n\
         transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    )?;
    to.flush()
}

/// Writes events, each at once, with a pause after each.
pub(crate) fn stream(to: &mut impl Write, events: &[String], pause: Duration) -> io::Result<()> {
    for event in events {
        write!(to, "{:x}\r\n{event}\r\n", event.len())?;
        to.flush()?;
        std::thread::sleep(pause);
    }
    Ok(())
}

/// Ends a streamed answer.
pub(crate) fn end_stream(to: &mut impl Write) -> io::Result<()> {
    to.write_all(b"0\r\n\r\n")?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<Option<Request>> {
        Request::read(&mut text.as_bytes(), || Ok(()))
    }

    #[test]
    fn a_body_is_read_by_its_length_or_by_its_chunks() {
        let whole = "POST /a?b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcd";
        let chunked = "POST /a?b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
                       1\r\na\r\n2;x=y\r\nbc\r\n0\r\n\r\n";
        for text in [whole, chunked] {
            let request = read(text).unwrap().unwrap();
            assert_eq!(
                (request.method.as_str(), request.path.as_str()),
                ("POST", "/a?b")
            );
            assert_eq!(request.body, b"abc");
        }
    }

    #[test]
    fn what_is_no_request_is_refused_and_nothing_is_nothing() {
        assert_eq!(read("").unwrap(), None);
        for text in [
            "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc",
            "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_client_that_waits_for_continue_gets_it() {
        let text = "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx";
        let mut is_notified = false;
        let request = Request::read(&mut text.as_bytes(), || {
            is_notified = true;
            Ok(())
        });
        assert_eq!(request.unwrap().unwrap().body, b"x");
        assert!(is_notified);
    }
}
