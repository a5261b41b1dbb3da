package build

import (
	"slices"
	"strings"
)

// envRun is the variable with the tag of a run, by which tare finds its processes.
const envRun = "TARE_RUN"

// Environment returns the environment for the user's code and commands. It removes the variables of
// tare, except for the tag of the run.
//
// It also removes variables of GitHub Actions, which code of a pull request could misuse: tokens,
// and the files that set variables of later steps. It keeps GITHUB_ACTIONS, and RUNNER_TRACKING_ID,
// by which a runner finds leftover processes.
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
