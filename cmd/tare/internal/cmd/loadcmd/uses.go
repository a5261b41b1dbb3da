package loadcmd

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// use is a kind of load that a flag supports or requires.
type use string

const (
	// What a flag supports in addition to loading one server from one machine.
	several use = "several servers"  // comparisons
	spread  use = "several machines" // --on

	// What a flag requires.
	onlyHTTP     use = "HTTP"
	onlyGRPC     use = "gRPC"
	onlyTLS      use = "https"
	onlyTCP      use = "TCP"
	onlyRecorded use = "--as-recorded"
)

// usesKey is the key of the annotation of a flag with its uses.
const usesKey = "uses"

// declareUses annotates a flag with its uses. Call it below the flag's definition.
func declareUses(group cmdenv.Flags, flag string, uses ...use) {
	var names []string
	for _, u := range uses {
		names = append(names, string(u))
	}
	if group.Set.SetAnnotation(flag, usesKey, names) != nil {
		panic("there is no flag --" + flag)
	}
}

// loadKind holds the properties of a load that decide which flags apply.
type loadKind struct {
	rpc       bool // gRPC
	encrypted bool // https
	quic      bool // HTTP/3
	recorded  bool // --as-recorded
	several   bool // a comparison of servers
	spread    bool // several machines send
}

// checkFlags rejects flags that were set and do not apply.
func (k loadKind) checkFlags(set *pflag.FlagSet) (err error) {
	set.Visit(func(f *pflag.Flag) {
		if err == nil && f.Name != "help" {
			err = k.checkUses(f.Name, f.Annotations[usesKey])
		}
	})
	return err
}

// checkUses returns a usage error if a flag with these uses does not apply to the load.
func (k loadKind) checkUses(flag string, uses []string) error {
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
