package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version is what this binary says about itself.
type Version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // commit it was built from
	Modified bool   `json:"modified,omitempty"` // with changes on top
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// version reads what the linker put into this binary.
func version() Version {
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

// String is one line.
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

func versionCommand(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Say which tare this is",
		Example: "  tare version --json",
		Args:    atMost(0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(env.Out, version())
			}
			_, err := fmt.Fprintln(env.Out, version())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
