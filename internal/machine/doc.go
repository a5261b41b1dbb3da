// Package machine describes and controls the computer on which tare measures: its facts and facilities
// ([Facts]), the disturbance by other load ([Gauge]), the lock that lets one process measure at a time
// ([Lock]), and control groups and processes ([Cgroup], [Children], [Resident]).
//
// A measurement works without this package. Facts that a machine does not provide are reported as
// not found or not recorded, never guessed.
package machine
