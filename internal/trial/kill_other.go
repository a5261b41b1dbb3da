//go:build !linux

package trial

// On these systems the environments of other processes cannot be read. Processes that leave their
// process group are not found and not killed.

// tagging reports that the processes of a run cannot be found by the variables in their environment.
const tagging = false

func findTagged([]string) []int { return nil }
func killTagged(int, []string)  {}

// awaitExit returns false: on this system, the end of a process can only be seen by reaping it.
func awaitExit(int) bool { return false }

// identifyLeader returns the zero value: this system identifies a process by its number only.
func identifyLeader(int) groupLeader { return groupLeader{} }

func killTrees(map[int]groupLeader) bool { return false }
