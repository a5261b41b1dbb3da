package build

import (
	"slices"
	"strings"
)

// envRun is the tag of a run, by which the guardian finds processes.
const envRun = "TARE_RUN"

// Environment returns the environment for the user's code and commands: that of the caller without
// tare's variables, except for the tag of the run, and without those that code of a pull request
// could misuse in a job of GitHub Actions: tokens, and the files in which a step leaves variables
// for later ones. Variables that only state where it runs stay, and so does the mark by which a
// runner finds leftover processes.
func Environment(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains([]string{envRun, "GITHUB_ACTIONS", "RUNNER_TRACKING_ID"}, name) {
			return false
		}
		return slices.ContainsFunc([]string{"TARE_", "GITHUB_", "ACTIONS_", "RUNNER_"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
}
