package cmdenv

import "testing"

func TestStyleFollowsTheTerminal(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		env      map[string]string
		coloured bool
	}{
		{false, nil, false},
		{true, nil, true},
		{true, map[string]string{"NO_COLOR": "1"}, false},
		{true, map[string]string{"TERM": "dumb"}, false},
	} {
		s := Env{Getenv: func(k string) string { return c.env[k] }}
		s.Lab.Terminal = func(any) (int, int, bool) { return 120, 40, c.terminal }
		st := s.Style(nil)
		if got := Paint(st.Bad, "x") != "x"; got != c.coloured {
			t.Errorf("terminal %v, %v: %q", c.terminal, c.env, Paint(st.Bad, "x"))
		}
		if c.terminal != (st.Width == 120) {
			t.Errorf("terminal %v: width %d", c.terminal, st.Width)
		}
	}
}
