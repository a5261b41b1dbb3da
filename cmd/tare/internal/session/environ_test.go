package session

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// Values are MACs of one data directory: equal there, different in another, and never
// the values.
func TestRecordEnv(t *testing.T) {
	record := func(d cmdenv.Dirs, env ...string) []string {
		t.Helper()
		list, err := RecordEnv(d, env)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	here, elsewhere := cmdenv.Dirs{Data: t.TempDir()}, cmdenv.Dirs{Data: t.TempDir()}
	got := record(here, "PIN=1234", "GOGC=200", "OTHER=1234", "PIN2=")
	if got[1] != "GOGC=200" || strings.Contains(strings.Join(got, " "), "1234 ") || !envDigest.MatchString(got[0]) || !envDigest.MatchString(got[3]) {
		t.Error(got)
	}
	if again := record(here, "PIN=1234"); again[0] != got[0] {
		t.Errorf("%s, then %s", got[0], again[0])
	}
	for _, other := range []string{record(here, "PIN=1235")[0], record(elsewhere, "PIN=1234")[0], "PIN" + strings.TrimPrefix(got[2], "OTHER")} {
		if other == got[0] {
			t.Errorf("%s is that of another value, variable or data directory", other)
		}
	}

	env, err := RestoreEnv(here, got[:2], []string{"PIN=1234"}, false)
	if err != nil || !slices.Equal(env, []string{"PIN=1234", "GOGC=200"}) {
		t.Error(env, err)
	}
	if env, err = RestoreEnv(elsewhere, got[:2], []string{"PIN=1234"}, true); err != nil || env[0] != "PIN=1234" {
		t.Error("a foreign result:", env, err)
	}
	for _, values := range [][]string{nil, {"PIN=1235"}, {"OTHER=1234"}, {"PIN=1234", "GOGC=200"}} {
		if _, err := RestoreEnv(here, got[:2], values, false); cmdenv.ExitCode(err) != cmdenv.ExitUsage || strings.Contains(err.Error(), "123") {
			t.Errorf("%q: %v", values, err)
		}
	}
}

// Machines have keys of their own: what they say of a variable becomes what the
// coordinator says.
func TestReplaceEnv(t *testing.T) {
	theirs := strings.Repeat("a", 32)
	record := []string{"A=hmac-sha256:" + strings.Repeat("b", 32), "GOGC=200"}
	for text, want := range map[string]string{
		"main (1f) with A=hmac-sha256:" + theirs + ", GOGC=200": "main (1f) with " + record[0] + ", GOGC=200",
		"B=hmac-sha256:" + theirs:                               "B=hmac-sha256:" + theirs,
		"A=plain":                                               "A=plain",
	} {
		if got := replaceEnv(text, record); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestWithoutValues(t *testing.T) {
	args := []string{"bench", "--env", "A=x", "--env=A=x", "--bench", "A=x", "--env=GOGC=50"}
	got := withoutValues(args, []string{"A=x", "GOGC=50"}, []string{"A=…", "GOGC=50"})
	if want := []string{"bench", "--env", "A=…", "--env=A=…", "--bench", "A=x", "--env=GOGC=50"}; !slices.Equal(got, want) || args[2] != "A=x" {
		t.Error(got, args)
	}
}
