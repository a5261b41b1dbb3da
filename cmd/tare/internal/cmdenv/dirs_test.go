package cmdenv

import (
	"path/filepath"
	"testing"
)

func TestDirectories(t *testing.T) {
	for _, c := range []struct {
		goos        string
		env         map[string]string
		cache, data string
	}{
		{"linux", map[string]string{"HOME": "/h"}, "/h/.cache/tare", "/h/.local/share/tare"},
		{"linux", map[string]string{"HOME": "/h", "XDG_CACHE_HOME": "/c", "XDG_DATA_HOME": "/d"}, "/c/tare", "/d/tare"},
		{"linux", map[string]string{"TARE_CACHE": "/x", "TARE_DATA": "/y"}, "/x", "/y"},
		{"darwin", map[string]string{"HOME": "/h"}, "/h/Library/Caches/tare", "/h/Library/Application Support/tare"},
		{"windows", map[string]string{"LocalAppData": "/l", "AppData": "/r"}, "/l/tare", "/r/tare"},
	} {
		d, err := findDirs(func(k string) string { return c.env[k] }, c.goos)
		if want := (Dirs{filepath.FromSlash(c.cache), filepath.FromSlash(c.data)}); filepath.Separator == '/' && (err != nil || d != want) {
			t.Errorf("%s %v: %v %v, want %v", c.goos, c.env, d, err, want)
		}
	}
	if _, err := findDirs(func(string) string { return "" }, "linux"); ExitCode(err) != ExitUsage {
		t.Errorf("without a home: %v", err)
	}
}

func TestStudyNamesStayInTheirDirectory(t *testing.T) {
	d := Dirs{Data: "data"}
	for name, want := range map[string]string{
		"json-encode": "json-encode", "../../etc": "_.._.._etc", "..": "_..", "a/b": "a_b", `a\b:c`: "a_b_c", "größe 1": "größe 1",
	} {
		if got := d.Results(name); got != filepath.Join("data", "results", want) {
			t.Errorf("%q: %s", name, got)
		}
	}
}
