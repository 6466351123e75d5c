//! [`Graph`]: dependencies as numbers. Pure; it knows nothing of files.

use std::collections::BTreeMap;

/// A directed graph over `0..len`, each edge with a weight.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    out: Vec<BTreeMap<usize, usize>>,
    into: Vec<BTreeMap<usize, usize>>,
}

impl Graph {
    /// A graph without edges.
    pub(super) fn new(len: usize) -> Self {
        Self {
            out: vec![BTreeMap::new(); len],
            into: vec![BTreeMap::new(); len],
        }
    }

    /// Adds one to the weight of an edge. A node never leans on itself.
    pub(super) fn add(&mut self, from: usize, to: usize) {
        if from != to {
            *self.out[from].entry(to).or_default() += 1;
            *self.into[to].entry(from).or_default() += 1;
        }
    }

    /// Returns the number of nodes.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// Lists the nodes that `node` depends on, with weights, in order of node.
    pub(super) fn out(&self, node: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.out[node].iter().map(|(to, weight)| (*to, *weight))
    }

    /// Lists the nodes that depend on `node`, with weights, in order of node.
    pub(super) fn into(&self, node: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.into[node]
            .iter()
            .map(|(from, weight)| (*from, *weight))
    }

    /// Returns the number of nodes that depend on `node`.
    pub(super) fn in_degree(&self, node: usize) -> usize {
        self.into[node].len()
    }

    /// Returns the number of nodes that `node` depends on.
    pub(super) fn out_degree(&self, node: usize) -> usize {
        self.out[node].len()
    }

    /// The strongly connected components (Tarjan), those that nothing of the rest is needed for
    /// first; members in order. Iterative, so that a long chain cannot exhaust the stack.
    pub(super) fn components(&self) -> Vec<Vec<usize>> {
        Tarjan::new(self).run()
    }

    /// For each node its layer: 0 leans on nothing, others stand one above the highest they lean
    /// on. Members of a cycle share a layer.
    pub(super) fn layers(&self) -> Vec<usize> {
        let mut layer = vec![0; self.len()];
        for component in self.components() {
            let height = component
                .iter()
                .flat_map(|&node| self.out(node))
                .filter(|(to, _)| !component.contains(to))
                .map(|(to, _)| layer[to] + 1)
                .max()
                .unwrap_or(0);
            for node in component {
                layer[node] = height;
            }
        }
        layer
    }

    /// A shortest way round from `start` to itself inside `members`, `start` not repeated.
    pub(super) fn round_trip(&self, start: usize, members: &[usize]) -> Vec<usize> {
        let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for (next, _) in self.out(node) {
                if next == start {
                    let mut way = vec![node];
                    let mut at = node;
                    while at != start {
                        at = came_from[&at];
                        way.push(at);
                    }
                    way.reverse();
                    return way;
                }
                if members.contains(&next) && !came_from.contains_key(&next) {
                    came_from.insert(next, node);
                    queue.push_back(next);
                }
            }
        }
        Vec::new()
    }
}

/// The state of one run of Tarjan's algorithm.
struct Tarjan<'a> {
    graph: &'a Graph,
    next_index: usize,
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl<'a> Tarjan<'a> {
    fn new(graph: &'a Graph) -> Self {
        let len = graph.len();
        Self {
            graph,
            next_index: 0,
            index: vec![None; len],
            low: vec![0; len],
            on_stack: vec![false; len],
            stack: Vec::new(),
            found: Vec::new(),
        }
    }

    fn run(mut self) -> Vec<Vec<usize>> {
        for root in 0..self.graph.len() {
            if self.index[root].is_none() {
                self.visit(root);
            }
        }
        self.found
    }

    fn visit(&mut self, root: usize) {
        let mut calls = vec![(root, self.enter(root))];
        while let Some((node, successors)) = calls.last_mut() {
            let node = *node;
            if let Some(next) = successors.pop() {
                match self.index[next] {
                    None => {
                        let entered = self.enter(next);
                        calls.push((next, entered));
                    }
                    Some(index) if self.on_stack[next] => {
                        self.low[node] = self.low[node].min(index);
                    }
                    Some(_) => {}
                }
                continue;
            }
            calls.pop();
            if let Some((parent, _)) = calls.last() {
                self.low[*parent] = self.low[*parent].min(self.low[node]);
            }
            if Some(self.low[node]) == self.index[node] {
                self.close(node);
            }
        }
    }

    /// Numbers `node` and returns the nodes that are still to be visited from it.
    fn enter(&mut self, node: usize) -> Vec<usize> {
        self.index[node] = Some(self.next_index);
        self.low[node] = self.next_index;
        self.next_index += 1;
        self.stack.push(node);
        self.on_stack[node] = true;
        self.graph.out(node).map(|(to, _)| to).collect()
    }

    fn close(&mut self, node: usize) {
        let mut members = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.on_stack[member] = false;
            members.push(member);
            if member == node {
                break;
            }
        }
        members.sort_unstable();
        self.found.push(members);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(len: usize, edges: &[(usize, usize)]) -> Graph {
        let mut graph = Graph::new(len);
        for &(from, to) in edges {
            graph.add(from, to);
        }
        graph
    }

    #[test]
    fn a_cycle_is_one_component_and_shares_a_layer() {
        let graph = graph(5, &[(0, 1), (1, 2), (2, 1), (2, 3), (4, 0)]);
        let cycles: Vec<_> = graph
            .components()
            .into_iter()
            .filter(|c| c.len() > 1)
            .collect();
        assert_eq!(cycles, [vec![1, 2]]);
        assert_eq!(graph.layers(), [2, 1, 1, 0, 3]);
        assert_eq!(graph.round_trip(1, &[1, 2]), [1, 2]);
    }

    #[test]
    fn a_long_chain_does_not_exhaust_the_stack() {
        let edges: Vec<_> = (0..200_000).map(|node| (node, node + 1)).collect();
        let graph = graph(200_001, &edges);
        assert_eq!(graph.components().len(), 200_001);
        assert_eq!(graph.layers()[0], 200_000);
    }

    #[test]
    fn leaning_on_oneself_does_not_count() {
        let graph = graph(1, &[(0, 0)]);
        assert_eq!(graph.out_degree(0), 0);
        assert_eq!(graph.in_degree(0), 0);
    }
}
