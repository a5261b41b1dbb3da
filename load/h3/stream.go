package h3

// Types of unidirectional streams.
const (
	controlStream = 0x0
	pushStream    = 0x1
	encoderStream = 0x2
	decoderStream = 0x3
)

// Bounds on the unidirectional streams of a server, per connection. Servers send far less in a day.
const (
	maxSettings = 4 << 10 // bytes
	maxControl  = 1 << 20 // bytes of all streams
	maxStreams  = 1000
)

// ControlStream returns the bytes that a client sends on its control stream: its type and SETTINGS.
// maxSection is the longest accepted field section in bytes. A client without dynamic tables needs no other
// such stream (RFC 9204, section 4.2).
func ControlStream(maxSection int) []byte {
	settings := AppendVarint(AppendVarint(nil, maxFieldSection), uint64(maxSection))
	return AppendFrame([]byte{controlStream}, Settings, settings)
}

// ConnectionError is the reason why the client must close a connection.
type ConnectionError struct {
	Code Code
	Text string
}

// Error returns one line.
func (e *ConnectionError) Error() string { return e.Text }

// Peer is the state of the unidirectional streams that a server has opened on one connection. Its zero
// value is ready for use. Calls must not be concurrent.
type Peer struct {
	opened map[uint64]bool // types of which only one stream is allowed
	count  int
	bytes  int // received on all streams
	leaves bool
	last   uint64 // stream id of the last GOAWAY
}

// Leaves reports whether the server has sent GOAWAY. first is the first stream that the server does not
// process.
func (p *Peer) Leaves() (first uint64, ok bool) { return p.last, p.leaves }

// AddStream counts a stream that the server has opened.
func (p *Peer) AddStream() error {
	if p.count++; p.count > maxStreams {
		return &ConnectionError{ExcessiveLoad, "too many unidirectional streams"}
	}
	return nil
}

// PeerStream parses one unidirectional stream of a server.
type PeerStream struct {
	peer    *Peer
	head    []byte // start of an incomplete type
	hasKind bool
	kind    uint64
	frames  Reader
	settled bool   // SETTINGS have arrived
	frame   []byte // payload of the current frame so far
}

// NewStream returns the parser of another stream.
func (p *Peer) NewStream() *PeerStream { return &PeerStream{peer: p} }

// Feed parses the next bytes of a stream. If it returns false, the client need not read more of the stream.
// After an error the client must close the connection.
func (s *PeerStream) Feed(b []byte) (known bool, err error) {
	if s.peer.bytes += len(b); s.peer.bytes > maxControl {
		return true, &ConnectionError{ExcessiveLoad, "too many bytes on unidirectional streams"}
	}
	if !s.hasKind {
		const maxVarint = 8 // bytes
		before := len(s.head)
		s.head = append(s.head, b[:min(len(b), maxVarint-before)]...)
		kind, size := ReadVarint(s.head)
		if size == 0 {
			return true, nil
		}
		s.kind, s.hasKind, b = kind, true, b[size-before:] // the bytes after the type
		if err := s.registerKind(); err != nil {
			return true, err
		}
	}
	switch s.kind {
	case controlStream:
		return true, s.readFrames(b)
	case encoderStream:
		for _, c := range b {
			if c != 0x20 { // 0x20 sets the capacity to 0, which is allowed
				return true, &ConnectionError{EncoderStreamError, "an instruction for a dynamic table, which the client did not allow"}
			}
		}
		return true, nil
	case decoderStream: // a client without a dynamic table can ignore it
		return true, nil
	}
	return false, nil
}

// registerKind records that the server has opened a stream of this type. Some types are forbidden or
// allowed once.
func (s *PeerStream) registerKind() error {
	switch {
	case s.kind == pushStream:
		return &ConnectionError{IDError, "a push, which the client did not allow"}
	case s.kind > decoderStream: // an unknown type, which is allowed
		return nil
	case s.peer.opened[s.kind]:
		return &ConnectionError{StreamCreationError, "a second control or QPACK stream"}
	}
	if s.peer.opened == nil {
		s.peer.opened = map[uint64]bool{}
	}
	s.peer.opened[s.kind] = true
	return nil
}

// End is called when the server closes or resets the stream. The control stream and the QPACK streams must
// stay open.
func (s *PeerStream) End() error {
	if !s.hasKind || s.kind > decoderStream {
		return nil
	}
	return &ConnectionError{ClosedCriticalStream, "the server closed a control or QPACK stream"}
}

func (s *PeerStream) readFrames(b []byte) error {
	for len(b) > 0 {
		p, n, ok := s.frames.Next(b)
		if b = b[n:]; !ok {
			return nil
		}
		if p.First {
			s.frame = s.frame[:0]
			if err := s.checkFrame(p); err != nil {
				return err
			}
		}
		if p.Type != Settings && p.Type != GoAway && p.Type != CancelPush {
			continue // unknown types are allowed
		}
		if s.frame = append(s.frame, p.Payload...); p.Last {
			if err := s.readFrame(p.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFrame rejects frames that must not be on a control stream, or not at this position.
func (s *PeerStream) checkFrame(p Part) error {
	isOfRequests := p.Type == Data || p.Type == Headers || p.Type == PushPromise
	isOfClients := p.Type == MaxPushID
	isSecondSettings := p.Type == Settings && s.settled
	switch {
	case !s.settled && p.Type != Settings:
		return &ConnectionError{MissingSettings, "a control stream that does not begin with SETTINGS"}
	case isSecondSettings, isOfRequests, isOfClients, IsReserved(p.Type):
		return &ConnectionError{FrameUnexpected, "a frame that may not come on the control stream"}
	case p.Type == Settings && p.Length > maxSettings:
		return &ConnectionError{ExcessiveLoad, "SETTINGS that are too long"}
	case (p.Type == GoAway || p.Type == CancelPush) && p.Length > 8:
		return &ConnectionError{FrameError, "a GOAWAY or CANCEL_PUSH of more than 8 bytes"}
	}
	s.settled = true
	return nil
}

func (s *PeerStream) readFrame(frameType uint64) error {
	if frameType == Settings {
		return checkSettings(s.frame)
	}
	id, size := ReadVarint(s.frame)
	switch p := s.peer; {
	case size == 0 || size != len(s.frame):
		return &ConnectionError{FrameError, "a GOAWAY or CANCEL_PUSH without one number"}
	case frameType == CancelPush:
		return &ConnectionError{IDError, "a CANCEL_PUSH of a push that the client did not allow"}
	case id%4 != 0 || p.leaves && id > p.last: // ids of requests are multiples of 4 (RFC 9000, section 2.1)
		return &ConnectionError{IDError, "a GOAWAY of a stream that is no request, or with a higher number than before"}
	default:
		p.leaves, p.last = true, id
	}
	return nil
}

// checkSettings checks the payload of a SETTINGS frame (RFC 9114, section 7.2.4). A client without a
// dynamic table can ignore the values.
func checkSettings(b []byte) error {
	seen := map[uint64]bool{}
	for len(b) > 0 {
		id, size := ReadVarint(b)
		if size == 0 {
			return &ConnectionError{FrameError, "SETTINGS that are cut off"}
		}
		_, valueSize := ReadVarint(b[size:])
		if valueSize == 0 {
			return &ConnectionError{FrameError, "SETTINGS that are cut off"}
		}
		b = b[size+valueSize:]
		isOfHTTP2 := id >= 0x2 && id <= 0x5
		if seen[id] || isOfHTTP2 {
			return &ConnectionError{SettingsError, "a setting that came twice, or of HTTP/2"}
		}
		seen[id] = true
	}
	return nil
}
