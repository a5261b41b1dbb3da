package load

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/tarebench/tare"
)

func newSettings(o Options) (*settings, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.Requests, o.CPUs = slices.Clone(o.Requests), slices.Clone(o.CPUs)
	if o.Connections == 0 {
		o.Connections = 10
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	o.Streams = max(1, o.Streams)
	if o.Handshake != KeepAlive {
		o.PerConn = 1
	}
	if o.Sample == 0 {
		o.Sample = 1000
	}
	if o.Threads == 0 {
		o.Threads = len(o.CPUs)
	}
	if o.Threads == 0 {
		o.Threads = (runtime.NumCPU() + 3) / 4 // a quarter, rounded up
	}
	o.Threads = min(o.Threads, o.Connections)
	s := &settings{Options: o, base: time.Now(), counters: counters{}}
	s.bodyBudget.Store(maxAllBodies)
	for status := range s.accepts {
		if o.Accept != nil {
			s.accepts[status] = o.Accept(status)
		} else {
			s.accepts[status] = status >= 200 && status < 400
		}
	}
	var err error
	if s.requests, err = encodeRequests(o, s.counters); err != nil {
		return nil, err
	}
	s.addrs, err = resolveAddress(o.Target.Addr, o.Timeout)
	return s, err
}

func (o Options) check() error {
	if err := checkTarget(o.Target); err != nil {
		return err
	}
	switch {
	case len(o.Requests) == 0:
		return fmt.Errorf("no requests to send")
	case o.Connections < 0 || o.Connections > tare.MaxConnections:
		return fmt.Errorf("%d connections: 1 to %d", o.Connections, tare.MaxConnections)
	case o.Timeout < 0 || o.Timeout > time.Hour:
		return fmt.Errorf("timeout %v: up to 1h", o.Timeout)
	case o.PerConn < 0:
		return fmt.Errorf("%d requests on one connection", o.PerConn)
	case o.Threads < 0 || o.Threads > 1024:
		return fmt.Errorf("%d threads: 1 to 1024", o.Threads)
	case o.Sample < 0:
		return fmt.Errorf("one answer in %d verified", o.Sample)
	case o.Engine != Auto && o.Engine != Epoll && o.Engine != Portable:
		return fmt.Errorf("engine %q: %s or %s", o.Engine, Epoll, Portable)
	case o.Handshake != KeepAlive && o.Handshake != Full && o.Handshake != Resume:
		return fmt.Errorf("handshake %q: %s or %s, or one for each connection without a word", o.Handshake, Full, Resume)
	case o.Handshake != KeepAlive && o.Target.TLS == nil:
		return fmt.Errorf("handshake %s: there is none in plain text", o.Handshake)
	case o.Handshake != KeepAlive && o.PerConn > 1:
		return fmt.Errorf("handshake %s is for each request, and %d requests are for each connection", o.Handshake, o.PerConn)
	case o.Protocol != HTTP1 && o.Protocol != H2C && o.Protocol != GRPC && o.Protocol != HTTP3:
		return fmt.Errorf("protocol %q: %s, %s or %s, or HTTP/1.1 without a word", o.Protocol, H2C, GRPC, HTTP3)
	case o.Protocol == HTTP3 && (o.Carry == nil || o.Target.TLS == nil || o.Engine == Epoll):
		return fmt.Errorf("protocol %s: it needs TLS, a QUIC transport, and engine %s", HTTP3, Portable)
	case o.Streams < 0 || o.Streams > MaxStreams:
		return fmt.Errorf("%d streams on a connection: 1 to %d", o.Streams, MaxStreams)
	case o.Streams > 1 && o.Protocol == HTTP1:
		return fmt.Errorf("%d streams on a connection: HTTP/1.1 has one", o.Streams)
	case o.Streams > 1 && o.Engine == Portable && o.Protocol != HTTP3:
		return fmt.Errorf("%d streams on a connection: engine %s has one", o.Streams, Portable)
	case o.Streams > 1 && o.Protocol == HTTP3 && (o.PerConn > 0 || o.Handshake != KeepAlive):
		return fmt.Errorf("%d streams on a connection: of HTTP/3 it has no last request then, and no handshake for each", o.Streams)
	case o.Streams*o.Connections > maxSlots:
		return fmt.Errorf("%d streams on each of %d connections: at most %d altogether", o.Streams, o.Connections, maxSlots)
	}
	for _, c := range o.CPUs {
		if c < 0 || c >= maxCPU {
			return fmt.Errorf("no processor %d", c)
		}
	}
	return nil
}

// MaxStreams is the largest number of streams on a connection.
const MaxStreams = 1000

const maxSlots = 100_000

// maxCPU is the largest number of processors for which Linux can be built.
const maxCPU = 8192

// check returns an error if a phase would never end, or if its values contradict each other.
func (l Leg) check() error {
	switch {
	case l.Lead < 0 || l.LeadTime < 0 || l.LeadTime > MaxDuration:
		return fmt.Errorf("lead-in of %d requests and %v: neither below 0, at most %v", l.Lead, l.LeadTime, MaxDuration)
	case l.Ops < 0 || l.Duration < 0 || l.Duration > MaxDuration:
		return fmt.Errorf("%d requests for %v: neither below 0, at most %v", l.Ops, l.Duration, MaxDuration)
	case l.Think < 0:
		return fmt.Errorf("think time %v", l.Think)
	case l.Profile == nil && l.Ops == 0 && l.Duration == 0:
		return fmt.Errorf("neither a number of requests nor a duration")
	case l.Profile != nil && l.Duration == 0:
		return fmt.Errorf("an open loop takes a duration")
	case l.Profile != nil && l.Ops != 0:
		return fmt.Errorf("an open loop takes a duration, not a number of requests")
	case l.Profile == nil && !l.At.IsZero():
		return fmt.Errorf("a closed loop has no time to start at")
	case l.Profile != nil && l.Think != 0:
		return fmt.Errorf("an open loop has no think time: its profile sets when requests are sent")
	}
	return nil
}

// resolveAddress returns the addresses of host:port as IP:port, in the order of the resolver. Without a
// host it returns the loopback address.
func resolveAddress(addr string, timeout time.Duration) ([]string, error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("target address %q: %w", addr, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil {
		return nil, fmt.Errorf("target address %q: %w", addr, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	ips := []netip.Addr{}
	if ip, err := netip.ParseAddr(host); err == nil {
		ips = append(ips, ip)
	} else if ips, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, fmt.Errorf("target address %q: %w", addr, err)
	}
	var out []string
	for _, ip := range ips {
		out = append(out, net.JoinHostPort(ip.Unmap().String(), strconv.Itoa(port)))
	}
	return out, nil
}
