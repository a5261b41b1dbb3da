package session

import (
	"testing"

	"github.com/tarebench/tare"
)

func TestRelativeStudies(t *testing.T) {
	for name, c := range map[string]struct {
		study tare.Study
		want  bool
	}{
		"names only":  {tare.Study{Contenders: []tare.Entry{{ID: "a", With: []string{"example.com/a@v1.0.0"}}}, Workloads: []tare.Workload{{Fixture: "devices"}}}, false},
		"a program":   {tare.Study{Contenders: []tare.Entry{{ID: "a", Program: "./a"}}}, true},
		"a command":   {tare.Study{Contenders: []tare.Entry{{ID: "a", Command: []string{"./srv"}}}}, true},
		"a directory": {tare.Study{Contenders: []tare.Entry{{ID: "a", With: []string{"example.com/a=../a"}}}}, true},
		"a file":      {tare.Study{Workloads: []tare.Workload{{File: "payload.json"}}}, true},
	} {
		if got := isRelative(c.study); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
