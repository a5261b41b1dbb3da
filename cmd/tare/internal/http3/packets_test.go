package http3

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quic-go/quic-go"

	"github.com/tarebench/tare/load"
)

// version2 is QUIC version 2 (RFC 9369), which the client does not offer.
const version2 = 0x6b3343cf

// header has the fields at the start of a long packet of QUIC (RFC 9000 §17.2).
type header struct {
	version   uint32
	to, from  []byte // connection IDs
	isInitial bool
}

// parseHeader reads the header of a packet that the client sent. It returns false if the packet has a short header.
func parseHeader(p []byte) (h header, isLong bool) {
	if len(p) < 7 || p[0]&0x80 == 0 {
		return header{}, false
	}
	h.version, h.isInitial = binary.BigEndian.Uint32(p[1:]), p[0]&0x30 == 0
	n := int(p[5])
	h.to = slices.Clone(p[6 : 6+n])
	m := int(p[6+n])
	h.from = slices.Clone(p[7+n : 7+n+m])
	return h, true
}

// appendTo appends a header with the first byte of a packet.
func (h header) appendTo(b []byte, first byte) []byte {
	b = binary.BigEndian.AppendUint32(append(b, first), h.version)
	b = append(append(b, byte(len(h.to))), h.to...)
	return append(append(b, byte(len(h.from))), h.from...)
}

// negotiateVersion returns a packet of version negotiation as a response to one with header h (RFC 9000 §17.2.1).
func negotiateVersion(h header, versions ...uint32) []byte {
	b := header{to: h.from, from: h.to}.appendTo(nil, 0xc0)
	for _, v := range versions {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// retry returns a Retry packet as a response to one with header h (RFC 9000 §17.2.5, RFC 9001 §5.8).
func retry(t *testing.T, h header, token string) []byte {
	t.Helper()
	key := []byte{0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a, 0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8, 0x4e}
	nonce := []byte{0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	seal, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	b := append(header{version: 1, to: h.from, from: []byte("new server")}.appendTo(nil, 0xf0), token...)
	signed := append(append([]byte{byte(len(h.to))}, h.to...), b...)
	return append(b, seal.Seal(nil, nonce, nil, signed)...)
}

// flip returns p with other bits at the end.
func flip(p []byte) []byte {
	p = slices.Clone(p)
	p[len(p)-1] ^= 0xff
	return p
}

// respondTo starts a UDP server on loopback, which sends what respond returns for each long packet, until the test ends.
func respondTo(t *testing.T, respond func(p []byte, h header) [][]byte) (addr string) {
	t.Helper()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, client, err := socket.ReadFromUDP(b)
			if err != nil {
				return
			}
			h, isLong := parseHeader(b[:n])
			if !isLong {
				continue
			}
			for _, p := range respond(b[:n], h) {
				_, _ = socket.WriteToUDP(p, client)
			}
		}
	}()
	return socket.LocalAddr().String()
}

// Without a handshake there is no connection, whatever the server sends. Only version negotiation that the client has
// to believe ends an attempt before the timeout.
func TestOddHandshakes(t *testing.T) {
	const late = "no handshake of QUIC in time"
	for name, c := range map[string]struct {
		respond func(p []byte, h header) [][]byte
		says    string
	}{
		"another version":  {func(_ []byte, h header) [][]byte { return [][]byte{negotiateVersion(h, 0x1a2a3a4a, version2)} }, "no compatible QUIC version"},
		"the same version": {func(_ []byte, h header) [][]byte { return [][]byte{negotiateVersion(h, 1, version2)} }, late},
		"no version":       {func(_ []byte, h header) [][]byte { return [][]byte{negotiateVersion(h)} }, late},
		"half a version":   {func(_ []byte, h header) [][]byte { return [][]byte{append(negotiateVersion(h), 1, 2)} }, late},
		"version negotiation of another connection": {func(_ []byte, h header) [][]byte {
			h.from = flip(h.from)
			return [][]byte{negotiateVersion(h, version2)}
		}, late},
		"Retry for ever":          {func(_ []byte, h header) [][]byte { return [][]byte{retry(t, h, "token")} }, late},
		"Retry of another server": {func(_ []byte, h header) [][]byte { return [][]byte{flip(retry(t, h, "token"))} }, late},
		"Retry without a token":   {func(_ []byte, h header) [][]byte { return [][]byte{retry(t, h, "")} }, late},
		"a long token":            {func(_ []byte, h header) [][]byte { return [][]byte{retry(t, h, strings.Repeat("x", 10_000))} }, late},
		"an echo":                 {func(p []byte, _ header) [][]byte { return [][]byte{p} }, late},
		"nothing":                 {func([]byte, header) [][]byte { return [][]byte{nil} }, late},
		"zeros":                   {func([]byte, header) [][]byte { return [][]byte{make([]byte, 1200)} }, late},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireNoConnection(t, respondTo(t, c.respond), c.says)
		})
	}
}

// requireNoConnection runs a phase that gets no connection, with errors of class connect only, of which the first has a
// text. It repeats that with a longer timeout while the machine is too busy for a handshake.
func requireNoConnection(t *testing.T, addr, says string) {
	t.Helper()
	o := options(addr)
	o.Connections = 2
	for o.Timeout = shortTimeout; ; o.Timeout *= 2 {
		r, _, err := run(t, o, load.Leg{Ops: 1})
		if err == nil || r.Sent != 0 || r.Errors[load.ErrConnect] == 0 || len(r.Errors) != 1 {
			t.Fatalf("%v: %d sent, %v", err, r.Sent, r.Errors)
		}
		if strings.Contains(err.Error(), "no connection to") && strings.Contains(err.Error(), says) {
			return
		}
		if o.Timeout > maxHandshake {
			t.Fatalf("%v, want %q", err, says)
		}
	}
}

// A server that speaks another protocol over QUIC gets no connection.
func TestOtherProtocol(t *testing.T) {
	config := tlsConfig()
	config.NextProtos = []string{"doq"}
	l, err := quic.ListenAddr("127.0.0.1:0", config, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	requireNoConnection(t, l.Addr().String(), "no application protocol")
}

// Packets that anybody can send to the client, without the keys of a connection, disturb no request: the client ignores
// them, and packets that come twice.
func TestStrayPackets(t *testing.T) {
	server := serveQUIC(t, nil, func(c *quic.Conn) { answerAll(c, fineAnswer) })
	to, err := net.ResolveUDPAddr("udp", server)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	randomBytes := func(first byte, n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		b[0] = first
		return b
	}
	var mu sync.Mutex               // guards what follows
	initials := map[string]header{} // of connections, by the client's connection ID
	initial := header{}             // the last one
	stray := map[string]int{}
	addr := relayPackets(t, to, func(p []byte, isToServer bool) [][]byte {
		mu.Lock()
		defer mu.Unlock()
		h, isLong := parseHeader(p)
		if isToServer {
			if isLong && h.isInitial {
				initial = h
				initials[string(h.from)] = h
			}
			return [][]byte{p}
		}
		packets := [][]byte{
			{}, {0x40}, randomBytes(0x40, 20), randomBytes(0x40, 21), randomBytes(0x40, 40), randomBytes(0xc0, 1200), // a stateless reset has 21 bytes or more
			negotiateVersion(initial, 1), // the client's own version
			flip(p), p, p,
		}
		stray["any"] += len(packets) - 1
		if n := len(initial.from); !isLong && len(p) > n { // what is for the beginning of a connection cannot end it later
			own := initials[string(p[1:1+n])]
			packets = append(packets, negotiateVersion(own, version2), retry(t, own, "token"))
			stray["late"] += 2
		}
		return packets
	})
	o := options(addr)
	o.Connections, o.Streams, o.Timeout = 2, 3, load.DefaultTimeout
	r, _, err := run(t, o, load.Leg{Ops: 200})
	if err != nil || r.Requests != 200 || len(r.Errors) != 0 || r.Opened != 2 || r.Resent != 0 {
		t.Errorf("%v: %d answered, %v, %d connections, %d sent again: %s", err, r.Requests, r.Errors, r.Opened, r.Resent, r.FirstError)
	}
	mu.Lock()
	defer mu.Unlock()
	if stray["any"] == 0 || stray["late"] == 0 {
		t.Errorf("stray packets: %v", stray)
	}
}
