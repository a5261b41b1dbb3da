package loadcmd

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// use is a kind of load that a flag is for, or the only one it is for.
type use string

const (
	several use = "several servers"  // also for a comparison; without it a flag is for one server
	spread  use = "several machines" // also with --on; without it a flag is for one machine

	onlyHTTP     use = "HTTP"
	onlyGRPC     use = "gRPC"
	onlyTLS      use = "https"
	onlyTCP      use = "TCP"
	onlyRecorded use = "--as-recorded"
)

// usesKey is the annotation of a flag that has its uses.
const usesKey = "uses"

// declare notes the uses of a flag. It stands below the flag.
func declare(in cmdenv.Flags, flag string, uses ...use) {
	var names []string
	for _, u := range uses {
		names = append(names, string(u))
	}
	if in.Set.SetAnnotation(flag, usesKey, names) != nil {
		panic("there is no flag --" + flag)
	}
}

// loadKind tells of a load what decides which flags apply.
type loadKind struct {
	rpc, encrypted, quic, recorded bool
	several, spread                bool
}

// check refuses a flag that was given and does not apply.
func (k loadKind) check(set *pflag.FlagSet) (err error) {
	set.Visit(func(f *pflag.Flag) {
		if err == nil && f.Name != "help" {
			err = k.refuse(f.Name, f.Annotations[usesKey])
		}
	})
	return err
}

// refuse returns why a flag with these uses does not apply; nil: it does.
func (k loadKind) refuse(flag string, uses []string) error {
	has := func(u use) bool { return slices.Contains(uses, string(u)) }
	switch {
	case has(onlyGRPC) && !k.rpc:
		return cmdenv.Usage(fmt.Sprintf("--%s is for gRPC", flag), "a URL of it is grpc://host:port/package.Service/Method")
	case has(onlyHTTP) && k.rpc:
		return cmdenv.Usage(fmt.Sprintf("--%s is for HTTP", flag), "what a call of gRPC sends is --data")
	case k.several && !has(several):
		return cmdenv.Usage(fmt.Sprintf("--%s is for one server", flag), "leave it out of a comparison")
	case k.spread && !has(spread):
		return cmdenv.Usage(fmt.Sprintf("--on does not take --%s", flag), "leave it out")
	case has(onlyTLS) && !k.encrypted:
		return cmdenv.Usage(fmt.Sprintf("--%s is for https", flag), "the URL is one of plain text")
	case has(onlyTCP) && k.quic:
		return cmdenv.Usage(fmt.Sprintf("--%s is for TCP", flag), "leave --http 3 out")
	case has(onlyRecorded) && !k.recorded:
		return cmdenv.Usage(fmt.Sprintf("--%s is for --as-recorded", flag), "")
	}
	return nil
}
