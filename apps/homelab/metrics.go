package homelab

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

type counters struct {
	statuses [600]atomic.Int64        // number of responses, by status
	commands map[string]*atomic.Int64 // has a key for each action

	mu       sync.Mutex
	refusals map[string]int64 // number of error responses, by code
}

func newCounters() *counters {
	c := &counters{commands: map[string]*atomic.Int64{}, refusals: map[string]int64{}}
	for _, a := range allActions() {
		c.commands[a] = &atomic.Int64{}
	}
	return c
}

func (c *counters) countRefusal(code string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusals[code]++
}

// Served counts a response with this status in the metrics. It ignores invalid statuses.
func (h *House) Served(status int) {
	if status >= 0 && status < len(h.counters.statuses) {
		h.counters.statuses[status].Add(1)
	}
}

// Metrics returns the counters in the text format of Prometheus.
func (h *House) Metrics() []byte {
	statuses := map[string]int64{}
	for status := range h.counters.statuses {
		if n := h.counters.statuses[status].Load(); n > 0 {
			statuses[fmt.Sprintf("%03d", status)] = n
		}
	}
	commands := map[string]int64{}
	for action, n := range h.counters.commands {
		commands[action] = n.Load()
	}
	h.counters.mu.Lock()
	refusals := maps.Clone(h.counters.refusals)
	h.counters.mu.Unlock()

	var b bytes.Buffer
	writeFamily(&b, "homelab_answers_total", "counter", "Answers, by status.", "status", statuses)
	writeFamily(&b, "homelab_refusals_total", "counter", "Requests that were rejected, by error.", "error", refusals)
	writeFamily(&b, "homelab_commands_total", "counter", "Commands for devices, by action.", "action", commands)
	writeFamily(&b, "homelab_devices", "gauge", "Devices in the house.", "", map[string]int64{"": int64(len(h.indexByID))})
	if h.limit != nil {
		writeFamily(&b, "homelab_rate_limited_clients", "gauge", "Clients that have sent requests recently.", "", map[string]int64{"": int64(h.limit.countClients())})
	}
	return b.Bytes()
}

// writeFamily writes a metric in the text format of Prometheus. The keys of values are the values of label. If
// label is "", the only key is "".
func writeFamily(b *bytes.Buffer, name, kind, help, label string, values map[string]int64) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if label == "" {
			fmt.Fprintf(b, "%s %d\n", name, values[key])
			continue
		}
		fmt.Fprintf(b, "%s{%s=%q} %d\n", name, label, key, values[key])
	}
}
