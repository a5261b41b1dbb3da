package historycmd

import "testing"

func TestPlainText(t *testing.T) {
	for _, c := range []struct {
		goos string
		env  map[string]string
		want bool
	}{
		{"linux", nil, true},
		{"linux", map[string]string{"LANG": "en_GB.UTF-8"}, false},
		{"linux", map[string]string{"LANG": "de_DE.utf8"}, false},
		{"linux", map[string]string{"LANG": "en_GB.UTF-8", "LC_ALL": "C"}, true},
		{"linux", map[string]string{"LANG": "C", "LC_CTYPE": "C.UTF-8"}, false},
		{"linux", map[string]string{"LANG": "en_GB.UTF-8", "NO_COLOR": "1"}, true},
		{"windows", nil, false},
		{"darwin", nil, false},
		{"windows", map[string]string{"NO_COLOR": "1"}, true},
	} {
		if got := plainText(func(name string) string { return c.env[name] }, c.goos); got != c.want {
			t.Errorf("%s %v: %v", c.goos, c.env, got)
		}
	}
}
