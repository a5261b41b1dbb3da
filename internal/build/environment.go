package build

import (
	"slices"
	"strings"
)

// envRun is the tag of a run, by which the guardian finds processes.
const envRun = "TARE_RUN"

// Environment is the environment for code and commands of the user's: the caller's
// without what is tare's own, except for the tag of the run, and without what code of
// a pull request could misuse in a job of GitHub Actions: tokens, and the files in
// which a step leaves variables for later ones. What only says where it runs stays, and
// so does the mark by which a runner finds processes that are left.
func Environment(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains([]string{envRun, "GITHUB_ACTIONS", "RUNNER_TRACKING_ID"}, name) {
			return false
		}
		return slices.ContainsFunc([]string{"TARE_", "GITHUB_", "ACTIONS_", "RUNNER_"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
}
