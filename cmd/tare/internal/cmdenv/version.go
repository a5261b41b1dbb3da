package cmdenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/build"
)

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

// Short returns the version, and for a development version also the commit.
func (v Version) Short() string {
	if v.Version != "devel" {
		return v.Version
	}
	return v.Version + v.formatCommit()
}

// String returns the version, commit, Go release and platform in one line.
func (v Version) String() string {
	return fmt.Sprintf("tare %s%s %s %s/%s", v.Version, v.formatCommit(), v.Go, v.OS, v.Arch)
}

// formatCommit returns a space and the abbreviated commit, with +changes for uncommitted changes.
func (v Version) formatCommit() string {
	if v.Revision == "" {
		return ""
	}
	text := " " + v.Revision[:min(12, len(v.Revision))]
	if v.Modified {
		text += "+changes"
	}
	return text
}

// Toolchain describes the go command, or why it cannot be used.
type Toolchain struct {
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	Error   string `json:"error,omitempty"`
}

// FindToolchain finds the go command and its version. Its errors wrap [build.ErrNoToolchain].
func FindToolchain(ctx context.Context) (Toolchain, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return Toolchain{}, build.MissingGo("go")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "env", "GOVERSION")
	dir, remove := build.OutsideModules() // a go.mod or go.work could select another toolchain
	defer remove()
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return Toolchain{Path: path}, fmt.Errorf("%w: %s does not say its version: %w", build.ErrNoToolchain, path, err)
	}
	return Toolchain{Path: path, Version: strings.TrimSpace(string(out))}, nil
}
