package cmdenv

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Short returns the version; for a development version with the commit.
func (v Version) Short() string {
	s := v.Version
	if s == "devel" && v.Revision != "" {
		s += " " + v.Revision[:min(12, len(v.Revision))]
		if v.Modified {
			s += "+changes"
		}
	}
	return s
}

// Version describes this binary.
type Version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // commit that the binary was built from
	Modified bool   `json:"modified,omitempty"` // the commit had uncommitted changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// ThisVersion reads the version from the build information of this binary.
func ThisVersion() Version {
	v := Version{Version: "devel", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// String returns the version, commit, Go release and platform in one line.
func (v Version) String() string {
	s := "tare " + v.Version
	if v.Revision != "" {
		s += " " + v.Revision[:min(12, len(v.Revision))]
		if v.Modified {
			s += "+changes"
		}
	}
	return fmt.Sprintf("%s %s %s/%s", s, v.Go, v.OS, v.Arch)
}
