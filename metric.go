package tare

import "strings"

// Direction says which way a metric is better.
type Direction string

// Directions.
const (
	LowerIsBetter  Direction = "lower"
	HigherIsBetter Direction = "higher"
)

// Metric is a named quantity in a base unit.
type Metric struct {
	Name      string    // as studies write it
	Key       string    // as documents write it; the unit is in the key
	Unit      string    // as tables write it
	Direction Direction // which way is better
	PerSlice  bool      // measured in every slice, so comparisons are paired slice by slice
	Doc       string    // one line
}

// Metrics is the catalogue, in the order tables use.
func Metrics() []Metric {
	return []Metric{
		{"time", "time_ns_per_op", "ns/op", LowerIsBetter, true, "wall time of one operation, garbage collection included"},
		{"cpu", "cpu_ns_per_op", "ns/op", LowerIsBetter, true, "CPU time of the whole process per operation, background collection included"},
		{"bytes", "bytes_per_op", "B/op", LowerIsBetter, false, "heap bytes allocated per operation"},
		{"allocs", "allocs_per_op", "allocs/op", LowerIsBetter, false, "heap objects allocated per operation"},
		{"size", "size_bytes_per_op", "B", LowerIsBetter, false, "bytes of output per operation"},
	}
}

// MetricNamed finds a metric by the name studies use.
func MetricNamed(name string) (Metric, bool) {
	for _, m := range Metrics() {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// MetricNames lists the catalogue in one line.
func MetricNames() string {
	var names []string
	for _, m := range Metrics() {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}
