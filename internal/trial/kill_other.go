//go:build !linux

package trial

// On these systems the environments of other processes cannot be read. So a process that leaves its group is
// not found.

// tagging reports that processes cannot be found by their variables.
const tagging = false

func findTagged([]string) []int { return nil }
func killTagged(int, []string)  {}

// awaitExit cannot wait here without reaping the process.
func awaitExit(int) bool { return false }

// identifyLeader is not supported here.
func identifyLeader(int) groupLeader { return groupLeader{} }

func killTrees(map[int]groupLeader) bool { return false }
