// Package machine describes and controls the computer on which tare measures. [Facts] describes it,
// [Gauge] measures the load of other programs, and [Lock] lets one process measure at a time.
// [Cgroup], [Children] and [Resident] are about processes.
//
// A measurement works without this package. Missing facts are reported as not found, never guessed.
package machine
