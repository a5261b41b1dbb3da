package tare

import "testing"

// What n counts is what the kind says, and in results from before it did what it was
// called then.
func TestCounted(t *testing.T) {
	for _, tt := range []struct {
		w    Workload
		want Counts
	}{
		{Workload{Fixture: "ingest", Op: "events"}, Counts{One: "event"}},
		{Workload{Fixture: "ingest", Op: "events-uniform"}, Counts{One: "event", Most: true}},
		{Workload{Fixture: "users"}, Counts{One: "user", In: "the store"}},
		{Workload{Fixture: "homelab"}, Counts{One: "device", In: "the house"}},
		{Workload{Fixture: "chess"}, Counts{One: "item"}},
		{Workload{Fixture: "users", Counts: &Counts{One: "player"}}, Counts{One: "player"}},
	} {
		if got := tt.w.Counted(); got != tt.want {
			t.Errorf("%+v: %+v, want %+v", tt.w, got, tt.want)
		}
	}
}
