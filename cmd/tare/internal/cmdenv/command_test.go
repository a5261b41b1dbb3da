package cmdenv

import (
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// parsed is a command that was called with arguments.
func parsed(t *testing.T, args ...string) *cobra.Command {
	t.Helper()
	root, cmd := &cobra.Command{Use: "tare"}, &cobra.Command{Use: "gate", RunE: func(*cobra.Command, []string) error { return nil }}
	root.AddCommand(cmd)
	flags := cmd.Flags()
	flags.String("base", "", "")
	flags.Duration("budget", time.Minute, "")
	flags.StringArray("with", nil, "")
	flags.Bool("no-lock", false, "")
	flags.Bool("color", true, "")
	flags.String("profile", "", "")
	flags.Lookup("profile").NoOptDefVal = "different"
	root.SetArgs(append([]string{"gate"}, args...))
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// A hint is the user's command with one thing changed, and another shell reads the same out of it.
func TestCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // with a budget of 90s
	}{
		{nil, "tare gate --budget 90s"},
		{[]string{"--base", "v1.4.0", "--budget=5s", "--no-lock"}, "tare gate --base v1.4.0 --budget 90s --no-lock"},
		{[]string{"--no-lock", "--with", "a@v1", "--with=b=../my dir", "x"}, "tare gate x --no-lock --with a@v1 --with 'b=../my dir' --budget 90s"},
		{[]string{"--color=false", "--profile", "--base="}, "tare gate --color=false --profile --base='' --budget 90s"},
		{[]string{"--profile=-x", "it's", "a$b"}, `tare gate 'it'\''s' 'a$b' --profile=-x --budget 90s`},
		{[]string{"--", "-x", "y"}, "tare gate --budget 90s -- -x y"},
	} {
		own := CommandOf(parsed(t, c.args...))
		if got := own.Set("budget", "90s").String(); got != c.want {
			t.Errorf("%q\ngot  %s\nwant %s", c.args, got, c.want)
		}
	}
	own := CommandOf(parsed(t, "--no-lock", "--base", "main", "x"))
	if got, want := own.Set("base", "v1").String()+own.WithArgs("y").String(), "tare gate x --no-lock --base v1tare gate y --no-lock --base main"; got != want {
		t.Errorf("a copy is not one: %s", got)
	}
	got := NewCommand("tare bench", "./...").WithEnv("GOFLAGS=-tags=a b").WithFlagsOf(own, "base", "none").SetPlain("profile").String()
	if want := "GOFLAGS='-tags=a b' tare bench ./... --base main --profile"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
