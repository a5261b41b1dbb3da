package releases

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"go1.26,go1.27":                      "go1.26 go1.27",
		"1.26.8,go1.27rc1":                   "go1.26.8 go1.27rc1",
		"go1.26.8,go1.26.8+jsonv2":           "go1.26.8 go1.26.8+jsonv2",
		"go1.26,go1.27+nojsonv2+simd,go1.27": "go1.26 go1.27+nojsonv2+simd go1.27",
		"go1.26":                             `error: "go1.26" is one release, which there is nothing to compare with`,
		"go1.26,go1.26":                      "error: go1.26 is listed twice",
		"1.26,go1.26":                        "error: go1.26 is listed twice",
		"go1.26,go1.27+":                     `error: "go1.27+" is not a Go release`,
		"go1.26, go1.27":                     `error: " go1.27" is not a Go release`,
		"go1,go2":                            `error: "go1" is not a Go release`,
		"local,go1.27":                       `error: "local" is not a Go release`,
		"go1.26,":                            `error: "" is not a Go release`,
	} {
		releases, err := Parse(text)
		var names []string
		for _, r := range releases {
			names = append(names, r.line+r.rest+r.experiments)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A release with all its numbers needs no list of releases, and neither does the installed line.
func TestResolve(t *testing.T) {
	for _, tt := range []struct{ text, installed, want string }{
		{"go1.26,go1.27.1", "go1.26.8", "go1.26.8 go1.27.1"},
		{"go1.26,go1.26+jsonv2", "go1.26.8-X:nodwarf5", "go1.26.8 go1.26.8+jsonv2"},
		{"go1.27rc1,go1.26", "go1.26rc2", "go1.27rc1 go1.26rc2"},
		{"go1.26,go1.26.8", "go1.26.8", "error: go1.26.8 is listed twice"},
	} {
		releases, err := Parse(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		names, err := Resolve(t.Context(), "", tt.installed, releases)
		got := strings.Join(names, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
	}
	t.Setenv("GOPROXY", "off")
	releases, _ := Parse("go1.26.8,go1.27")
	_, err := Resolve(t.Context(), "", "go1.26.8", releases)
	if err == nil || !strings.HasPrefix(err.Error(), "which go1.27 is the newest cannot be found out: ") || !strings.HasSuffix(err.Error(), "; name it with all its numbers, e.g. go1.27.0") || strings.Contains(err.Error(), "\n") {
		t.Errorf("without a network: %v", err)
	}
}

func TestNewestOf(t *testing.T) {
	versions := strings.Fields("1.9.2rc2 1.2.2 1.26rc1 1.26.0 1.26.9 1.26.10 1.27rc1 1.27rc2 1.28beta1 1.28rc1")
	for line, want := range map[string]string{
		"go1.26": "go1.26.10", "go1.27": "go1.27rc2", "go1.28": "go1.28rc1", "go1.2": "go1.2.2", "go1.29": "",
	} {
		if got := newestOf(line, versions); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
