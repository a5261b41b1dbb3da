package build

import (
	"slices"
	"strings"
)

// envRun has the tag by which tare finds the processes of a run.
const envRun = "TARE_RUN"

// Environment returns the environment for the user's code and commands. Of tare's variables it keeps only the
// tag of the run.
//
// Of GitHub Actions it keeps GITHUB_ACTIONS and RUNNER_TRACKING_ID, by which a runner finds leftover
// processes. Code of a pull request could misuse others: tokens, and files that set variables of later steps.
func Environment(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains([]string{envRun, "GITHUB_ACTIONS", "RUNNER_TRACKING_ID"}, name) {
			return false
		}
		removed := []string{"TARE_", "GITHUB_", "ACTIONS_", "RUNNER_"}
		return slices.ContainsFunc(removed, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
}
