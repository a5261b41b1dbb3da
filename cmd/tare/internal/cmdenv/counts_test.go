package cmdenv

import (
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/counts"
)

// The flag counts before the variable, and a wrong value of either names where it is.
func TestReadCounts(t *testing.T) {
	for _, tt := range []struct {
		flag, variable string
		ordered        bool
		want           counts.Choice
		wrong          string
	}{
		{"", "", false, counts.Auto, ""},
		{"", "off", false, counts.Off, ""},
		{"valgrind", "off", false, counts.Valgrind, ""},
		{"", "auto", true, counts.Off, ""},
		{"auto", "", true, counts.Auto, ""},
		{"perf", "off", false, "", `--counts "perf" is not a counter`},
		{"", "perf", false, "", `TARE_COUNTS "perf" is not a counter`},
	} {
		env := Env{Ordered: tt.ordered, Getenv: func(name string) string {
			if name == EnvCounts {
				return tt.variable
			}
			return ""
		}}
		got, err := ReadCounts(env, tt.flag)
		if got != tt.want || (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
}
