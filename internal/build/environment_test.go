package build

import (
	"slices"
	"testing"
)

func TestEnvironment(t *testing.T) {
	got := Environment([]string{
		"PATH=/bin", "TARE_CACHE=x", "TARE_RUN=r", "GITHUB_ENV=/env", "GITHUB_TOKEN=secret", "ACTIONS_RUNTIME_TOKEN=secret", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=secret",
		"RUNNER_TEMP=/tmp", "RUNNER_TRACKING_ID=1", "GITHUB_ACTIONS=true", "GOGC=50",
	})
	if want := []string{"PATH=/bin", "TARE_RUN=r", "RUNNER_TRACKING_ID=1", "GITHUB_ACTIONS=true", "GOGC=50"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	b := Builder{Env: []string{"GITHUB_TOKEN=secret", "TARE_RUN=other", "HOME=/h"}, Run: "r"}
	if got, want := b.makeEnv(nil), []string{"HOME=/h", "TARE_RUN=r"}; !slices.Equal(got, want) {
		t.Errorf("of a build: %q, want %q", got, want)
	}
}
