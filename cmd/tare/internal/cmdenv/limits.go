package cmdenv

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
)

// Limits contains the flags of an agent that limit what coordinators on other machines may order.
type Limits struct {
	fleet.Limits
	memory, disk string // texts; Check parses them
}

// Add adds the flags. commands is the help text of --allow-commands.
func (l *Limits) Add(flags *pflag.FlagSet, commands string) {
	flags.BoolVar(&l.Commands, "allow-commands", false, commands)
	flags.StringArrayVar(&l.Targets, "allow-target", nil, "also accept loads of `host:port`, of a host, or of a pattern, not only of servers of this machine; repeatable")
	flags.Float64Var(&l.Rate, "most-rate", 0, "maximum requests per second; default: no limit")
	flags.DurationVar(&l.Duration, "most-duration", 0, "maximum duration of an order; default: no limit")
	flags.StringVar(&l.memory, "keep-memory", "", "end an order if less memory than this `size` is available, e.g. 2GB")
	flags.StringVar(&l.disk, "keep-disk", "", "end an order if less disk than this `size` is free for builds and received files")
}

// Check parses the sizes that must stay free. It returns an error if this system does not report how
// much is free.
func (l *Limits) Check(env Env) error {
	free := FreeOf(env)
	for _, f := range []struct {
		name, text string
		limit      *int64 // set to the parsed text
		free       int64  // negative if unknown
	}{
		{"keep-memory", l.memory, &l.KeepMemory, free.Memory},
		{"keep-disk", l.disk, &l.KeepDisk, free.Disk},
	} {
		if f.text == "" {
			continue
		}
		n, err := format.ParseBytes(f.text)
		switch {
		case err != nil:
			return Usage("--"+f.name+": "+err.Error(), format.BytesHint)
		case f.free < 0:
			return Usage("--"+f.name+": this system does not say how much is free", "")
		}
		*f.limit = n
	}
	return nil
}

// FreeOf returns the available memory and the free disk space in bytes; -1 means unknown. An order
// writes to two directories; the one with less space counts.
func FreeOf(env Env) fleet.Free {
	f := fleet.Free{Memory: -1, Disk: -1}
	if n, known := machine.Available(); known {
		f.Memory = n
	}
	dirs, err := env.Dirs()
	if err != nil {
		return f
	}
	if err := os.MkdirAll(dirs.Cache, 0o700); err != nil {
		return f
	}
	for _, dir := range []string{dirs.Cache, os.TempDir()} {
		if n, known := machine.FreeDisk(dir); known && (f.Disk < 0 || n < f.Disk) {
			f.Disk = n
		}
	}
	return f
}
