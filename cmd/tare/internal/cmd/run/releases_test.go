package run

import (
	"context"
	"testing"

	"github.com/tarebench/tare"
)

type has string

func (h has) Here(_ context.Context, release string) bool { return release == string(h) }

// A study is left out where one of its contenders takes a release to be fetched.
func TestReleasesThatAreNotHere(t *testing.T) {
	study := tare.Study{Contenders: []tare.Entry{{ID: "a"}, {ID: "b", Go: "go1.26.8"}, {ID: "c", Go: "go1.27.2"}}}
	for here, want := range map[has]string{"go1.26.8": "go1.27.2", "go1.27.2": "go1.26.8", "none": "go1.26.8"} {
		if got := missingRelease(t.Context(), here.Here, study); got != want {
			t.Errorf("with %s: %q, want %q", here, got, want)
		}
	}
	if got := missingRelease(t.Context(), has("go1.26.8").Here, tare.Study{Contenders: study.Contenders[:2]}); got != "" {
		t.Errorf("all are here, and %q is lacking", got)
	}
}
