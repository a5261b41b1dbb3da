package loadcmd

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// use is a kind of load that a flag supports or requires. Every flag supports one server and one
// machine. A flag is rejected in other loads, so that none is ignored silently.
type use string

const (
	// Loads that a flag supports in addition.
	manyServers  use = "several servers"  // a comparison of servers
	manyMachines use = "several machines" // one server is loaded from the machines of --on

	// Properties of a load without which a flag is rejected.
	onlyHTTP     use = "HTTP"
	onlyGRPC     use = "gRPC"
	onlyTLS      use = "https"
	onlyTCP      use = "TCP"
	onlyRecorded use = "--as-recorded"
)

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

// loadKind has the properties of a load that decide which flags apply.
type loadKind struct {
	rpc          bool // gRPC
	encrypted    bool // https
	quic         bool // HTTP/3
	recorded     bool // --as-recorded
	manyServers  bool // a comparison of servers
	manyMachines bool // several machines send
}

func (k loadKind) checkFlags(set *pflag.FlagSet) (err error) {
	set.Visit(func(f *pflag.Flag) {
		if err == nil && f.Name != "help" {
			err = k.checkUses(f.Name, f.Annotations[usesKey])
		}
	})
	return err
}

func (k loadKind) checkUses(flag string, uses []string) error {
	has := func(u use) bool { return slices.Contains(uses, string(u)) }
	switch {
	case has(onlyGRPC) && !k.rpc:
		return cmdenv.Usage(fmt.Sprintf("--%s is for gRPC", flag), "a URL of it is grpc://host:port/package.Service/Method")
	case has(onlyHTTP) && k.rpc:
		return cmdenv.Usage(fmt.Sprintf("--%s is for HTTP", flag), "what a call of gRPC sends is --data")
	case k.manyServers && !has(manyServers):
		return cmdenv.Usage(fmt.Sprintf("--%s is for one server", flag), "leave it out of a comparison")
	case k.manyMachines && !has(manyMachines):
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
