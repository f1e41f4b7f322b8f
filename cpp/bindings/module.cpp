// The Python module of the compiled kernels.
#include "bindings.hpp"

NB_MODULE(_kernels, m) {
    namespace bindings = anonymatch::bindings;
    // Threads that the interpreter does not wait for may hold results when it ends: that is no leak.
    nanobind::set_leak_warnings(false);
    m.attr("version") = ANONYMATCH_VERSION;
    bindings::bind_frontier(m);
    bindings::bind_band(m);
    bindings::bind_glynn(m);
    bindings::bind_ryser(m);
    bindings::bind_class_chain(m);
    bindings::bind_class_sums(m);
    bindings::bind_subset(m);
    bindings::bind_small(m);
    bindings::bind_sinkhorn(m);
    bindings::bind_spare_chain(m);
    bindings::bind_structure(m);
    bindings::bind_belief_propagation(m);
    bindings::bind_importance(m);
    bindings::bind_worm(m);
    bindings::bind_hidden_chain(m);
    bindings::bind_link_chain(m);
    bindings::bind_nested_bound(m);
    bindings::bind_network(m);
    bindings::bind_passage(m);
    bindings::bind_particles(m);
    bindings::bind_phase_chain(m);
    bindings::bind_planar(m);
    bindings::bind_profile_chain(m);
    bindings::bind_tree(m);
    bindings::bind_swap_chain(m);
    bindings::bind_table_chain(m);
}
