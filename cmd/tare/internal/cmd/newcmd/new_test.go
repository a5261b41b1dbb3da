package newcmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
)

// The last of the commands that tare new prints is a study that can be read.
func TestNextCommands(t *testing.T) {
	const edit = " mod edit "
	for _, c := range []struct {
		at, sdk string
		inside  bool
		want    []string // but the last
		entry   tare.Entry
	}{
		{"contenders/codec/mine", "", true, []string{"GOWORK=off go -C contenders/codec/mine get MODULE@VERSION", "make contenders LEAVES=contenders/codec/mine"}, tare.Entry{ID: "mine"}},
		{"/src/tare/contenders/codec/mine", "", true, []string{"GOWORK=off go -C /src/tare/contenders/codec/mine get MODULE@VERSION", "make -C /src/tare contenders LEAVES=contenders/codec/mine"}, tare.Entry{ID: "mine"}},
		{"bench/mine", "", false, []string{"GOWORK=off go -C bench/mine get . MODULE@VERSION", "GOWORK=off go -C bench/mine vet ."}, tare.Entry{ID: "mine", Program: "./bench/mine"}},
		{"/a b/mine", "/my cache/catalog/0", false, []string{
			"GOWORK=off go -C '/a b/mine'" + edit + "'-replace=github.com/tarebench/tare=/my cache/catalog/0' # for go and an editor on this machine",
			"GOWORK=off go -C '/a b/mine' get . MODULE@VERSION", "GOWORK=off go -C '/a b/mine' vet .",
			"GOWORK=off go -C '/a b/mine'" + edit + "-dropreplace=github.com/tarebench/tare # before it goes to another; tare needs none",
		}, tare.Entry{ID: "mine", Program: "/a b/mine"}},
	} {
		got := nextElsewhere("codec", "mine", c.at, c.sdk)
		if c.inside {
			got = nextInside("codec", "mine", c.at)
		}
		last := len(got) - 1
		if !slices.Equal(got[:last], c.want) {
			t.Errorf("%s: %q\nwant %q", c.at, got[:last], c.want)
		}
		s := piped(t, got[last])
		if len(s.Contenders) != 2 || s.Contenders[1].ID != c.entry.ID || s.Contenders[1].Program != c.entry.Program {
			t.Errorf("%s: %+v", got[last], s.Contenders)
		}
	}
	for _, kind := range catalog.Kinds() {
		if s := piped(t, measureCommand(kind, "mine", "mine")); string(s.Kind) != kind || s.Contenders[0].ID != s.Baseline {
			t.Errorf("%s: %+v", kind, s)
		}
	}
}

// piped is the study that a command pipes into tare.
func piped(t *testing.T, command string) tare.Study {
	t.Helper()
	_, study, _ := strings.Cut(command, "'")
	study, run, _ := strings.Cut(study, "'")
	s, err := studyfile.Parse("stdin", []byte(study))
	if err != nil || run != " | tare run -" {
		t.Fatalf("%s: %v", command, err)
	}
	return s
}
