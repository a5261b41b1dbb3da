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

// Settings of a client, in a workload's set. If addr is set, the program calls that server; otherwise it
// serves.
const (
	SetAddr     = "addr"     // host:port to call
	SetProtocol = "protocol" // one of Face.Protocols; default: the first
	SetHTTP2    = "http2"    // on or off; default: on for gRPC, else off
	SetPolicy   = "policy"   // policy of connections; default: One over HTTP/2, else Pool
	SetCallers  = "callers"  // number of concurrent callers; default: 1
	SetRate     = "rate"     // rate at which calls start, as package load/pace parses it; 0 or unset: a caller starts its next call when the last has ended
)

// maxCallers limits the concurrent callers.
const maxCallers = 10_000

// prepareClient connects a client to the server in w, and returns the work of making the calls in bodies. Each
// body is a [Call] in JSON.
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

// parseTarget returns a Target without its Dial. If f cannot call with valid settings, the error wraps
// [contender.ErrUnsupported].
func (f Face) parseTarget(variant string, set map[string]string) (Target, error) {
	known := []string{SetAddr, SetProtocol, SetHTTP2, SetPolicy, SetCallers, SetRate}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(known, key) {
			return Target{}, fmt.Errorf("unknown setting %q of a client; it knows %s", key, strings.Join(known, ", "))
		}
	}
	t := Target{Addr: set[SetAddr], Variant: variant}
	if err := f.parseProtocol(&t, set); err != nil {
		return t, err
	}
	if err := parseConnections(&t, set); err != nil {
		return t, err
	}
	switch {
	case !t.HTTP2 && t.Protocol == GRPC:
		return t, fmt.Errorf("gRPC without HTTP/2: %w", contender.ErrUnsupported)
	case !t.HTTP2 && t.Policy == One && t.Callers > 1: // HTTP/1 answers one call after the other
		return t, fmt.Errorf("one connection for %d callers without HTTP/2: %w", t.Callers, contender.ErrUnsupported)
	}
	return t, nil
}

func (f Face) parseProtocol(t *Target, set map[string]string) error {
	t.Protocol = set[SetProtocol]
	if t.Protocol == "" && len(f.Protocols) > 0 {
		t.Protocol = f.Protocols[0]
	}
	if !slices.Contains(f.Protocols, t.Protocol) {
		return fmt.Errorf("protocol %q of a transport that speaks %s: %w", t.Protocol, strings.Join(f.Protocols, ", "), contender.ErrUnsupported)
	}
	switch v := set[SetHTTP2]; v {
	case "":
		t.HTTP2 = t.Protocol == GRPC
	case "on", "off":
		t.HTTP2 = v == "on"
	default:
		return fmt.Errorf("http2: %q is neither on nor off", v)
	}
	return nil
}

// parseConnections sets the policy and the callers of t, whose protocol is set.
func parseConnections(t *Target, set map[string]string) (err error) {
	t.Policy = set[SetPolicy]
	switch {
	case t.Policy != "":
	case t.HTTP2:
		t.Policy = One
	default:
		t.Policy = Pool
	}
	if !slices.Contains([]string{Pool, One, Fresh}, t.Policy) {
		return fmt.Errorf("policy: %q is neither pool, one nor fresh", t.Policy)
	}
	t.Callers = 1
	if text := set[SetCallers]; text != "" {
		t.Callers, err = strconv.Atoi(text)
	}
	if err != nil || t.Callers < 1 || t.Callers > maxCallers {
		return fmt.Errorf("callers: %q is not an integer from 1 to %d", set[SetCallers], maxCallers)
	}
	return nil
}

// parseRate returns starts of calls for [contender.Work.Times]. nil means that a caller starts when its last
// call ends.
func parseRate(rate string) (func(uint64) func() time.Duration, error) {
	n, err := strconv.ParseFloat(rate, 64)
	isZero := err == nil && n == 0
	if rate == "" || isZero {
		return nil, nil
	}
	const duration = time.Second // matters only to ramps and steps, which clients do not have
	p, err := pace.Parse(rate, duration)
	if err != nil {
		return nil, err
	}
	return p.Times, nil
}

type clientWork struct {
	client   Client
	calls    []Call
	counters Counters
}

// doCall makes call i and returns an error if the outcome is not the expected one. The bytes of output are 0,
// because a result is a Go value.
func (c *clientWork) doCall(i int) (int, error) {
	call := c.calls[i].Fill(&c.counters)
	_, err := call.Do(context.Background(), c.client)
	return 0, call.Wrong(err)
}

// answerCall is doCall with the result as JSON, to be compared.
func (c *clientWork) answerCall(i int) (contender.Answered, error) {
	call := c.calls[i].Fill(&c.counters)
	out, err := call.Do(context.Background(), c.client)
	text, err := call.JSON(out, err)
	return contender.Answered{Output: text}, err
}
