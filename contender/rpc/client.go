package rpc

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load/pace"
)

// Settings of a client: keys of a workload's set, the settings that a study gives the
// workload. If a workload sets addr, the program calls the server there; otherwise it serves.
const (
	SetAddr     = "addr"     // host:port to call
	SetProtocol = "protocol" // one of Face.Protocols; default: the first
	SetHTTP2    = "http2"    // on or off; default: on for gRPC, else off
	SetPolicy   = "policy"   // policy of connections; default: One over HTTP/2, else Pool
	SetCallers  = "callers"  // number of concurrent callers; default: 1
	SetRate     = "rate"     // start calls at this rate, as package load/pace parses it; 0 or unset: each caller starts a call when its last one ends
)

// maxCallers limits the concurrent callers.
const maxCallers = 10_000

// prepareClient connects a client to the server that w names, and returns the work of making the calls in bodies,
// each of which is a [Call] in JSON.
func (f Face) prepareClient(variant string, w wire.Workload, bodies [][]byte) (contender.Work, error) {
	c := &clientWork{calls: make([]Call, len(bodies))}
	for i, body := range bodies {
		var err error
		if c.calls[i], err = ParseCall(body); err != nil {
			return contender.Work{}, fmt.Errorf("call %d: %w", i, err)
		}
	}
	t, err := f.parseTarget(variant, w.Set)
	if err != nil {
		return contender.Work{}, err
	}
	times, err := parseRate(w.Set[SetRate])
	if err != nil {
		return contender.Work{}, err
	}
	traffic := &network{}
	t.Dial = traffic.dialCounted
	if c.client, err = f.Dial(t); err != nil {
		return contender.Work{}, err
	}
	return contender.Work{
		Callers: t.Callers, Times: times, Do: c.doCall, Answer: c.answerCall, Network: traffic.readCounts,
		Reset: func() error {
			c.counters.Reset()
			return nil
		},
		Close: func() { _ = c.client.Close() },
	}, nil
}

// parseTarget returns the Target that the settings in set define, without its Dial. It returns an error if a setting
// is invalid, and an error that wraps [contender.ErrUnsupported] if f cannot call with valid settings.
func (f Face) parseTarget(variant string, set map[string]string) (Target, error) {
	known := []string{SetAddr, SetProtocol, SetHTTP2, SetPolicy, SetCallers, SetRate}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(known, key) {
			return Target{}, fmt.Errorf("unknown setting %q of a client; it knows %s", key, strings.Join(known, ", "))
		}
	}
	valueOr := func(key, fallback string) string {
		if v := set[key]; v != "" {
			return v
		}
		return fallback
	}
	firstProtocol := ""
	if len(f.Protocols) > 0 {
		firstProtocol = f.Protocols[0]
	}
	t := Target{Addr: set[SetAddr], Variant: variant, Protocol: valueOr(SetProtocol, firstProtocol)}
	if !slices.Contains(f.Protocols, t.Protocol) {
		return t, fmt.Errorf("protocol %q of a transport that speaks %s: %w", t.Protocol, strings.Join(f.Protocols, ", "), contender.ErrUnsupported)
	}
	switch v := set[SetHTTP2]; v {
	case "":
		t.HTTP2 = t.Protocol == GRPC
	case "on", "off":
		t.HTTP2 = v == "on"
	default:
		return t, fmt.Errorf("http2: %q is neither on nor off", v)
	}
	defaultPolicy := Pool
	if t.HTTP2 {
		defaultPolicy = One
	}
	var err error
	t.Policy = valueOr(SetPolicy, defaultPolicy)
	t.Callers, err = strconv.Atoi(valueOr(SetCallers, "1"))
	switch {
	case !slices.Contains([]string{Pool, One, Fresh}, t.Policy):
		return t, fmt.Errorf("policy: %q is neither pool, one nor fresh", t.Policy)
	case err != nil || t.Callers < 1 || t.Callers > maxCallers:
		return t, fmt.Errorf("callers: %q is not an integer from 1 to %d", set[SetCallers], maxCallers)
	case !t.HTTP2 && t.Protocol == GRPC:
		return t, fmt.Errorf("gRPC without HTTP/2: %w", contender.ErrUnsupported)
	case !t.HTTP2 && t.Policy == One && t.Callers > 1:
		return t, fmt.Errorf("one connection for %d callers without HTTP/2: %w", t.Callers, contender.ErrUnsupported)
	}
	return t, nil
}

// parseRate returns the times at which an open loop starts its calls, in the form of [contender.Work.Times]. It
// returns nil, which means a closed loop, if rate is "" or 0.
func parseRate(rate string) (func(uint64) func() time.Duration, error) {
	if n, err := strconv.ParseFloat(rate, 64); rate == "" || err == nil && n == 0 {
		return nil, nil
	}
	const duration = time.Second // only ramps and steps depend on it, and workloads of clients have neither
	p, err := pace.Parse(rate, duration)
	if err != nil {
		return nil, err
	}
	return p.Times, nil
}

// clientWork makes the calls of a workload with one client.
type clientWork struct {
	client   Client
	calls    []Call
	counters Counters
}

// doCall makes call i and returns an error unless its outcome is the expected one. The number of output bytes is 0,
// because the result of a call is a Go value.
func (c *clientWork) doCall(i int) (int, error) {
	call := c.calls[i].Fill(&c.counters)
	_, err := call.Do(context.Background(), c.client)
	return 0, call.Wrong(err)
}

// answerCall makes call i like doCall, and returns the result as JSON for the lab to compare.
func (c *clientWork) answerCall(i int) (contender.Answered, error) {
	call := c.calls[i].Fill(&c.counters)
	out, err := call.Do(context.Background(), c.client)
	text, err := call.JSON(out, err)
	return contender.Answered{Output: text}, err
}
