package h2

import "encoding/binary"

// AppendHeader appends the header of a frame with a payload of length bytes.
func AppendHeader(b []byte, length int, t Type, flags uint8, stream uint32) []byte {
	b = append(b, byte(length>>16), byte(length>>8), byte(length), byte(t), flags)
	return binary.BigEndian.AppendUint32(b, stream)
}

// SetLength sets the length in the header of frame to the length of the rest.
func SetLength(frame []byte) {
	length := len(frame) - HeaderLen
	frame[0], frame[1], frame[2] = byte(length>>16), byte(length>>8), byte(length)
}

// AppendFrame appends a frame without checking it.
func AppendFrame(b []byte, f Frame) []byte {
	return append(AppendHeader(b, len(f.Payload), f.Type, f.Flags, f.Stream), f.Payload...)
}

// Setting is one value of a SETTINGS frame.
type Setting struct {
	ID    int
	Value uint32
}

// AppendSettings appends a SETTINGS frame.
func AppendSettings(b []byte, values ...Setting) []byte {
	b = AppendHeader(b, 6*len(values), Settings, 0, 0)
	for _, v := range values {
		b = binary.BigEndian.AppendUint16(b, uint16(v.ID))
		b = binary.BigEndian.AppendUint32(b, v.Value)
	}
	return b
}

// AppendWindowUpdate appends a WINDOW_UPDATE of a stream; stream 0 is the connection.
func AppendWindowUpdate(b []byte, stream, increment uint32) []byte {
	return binary.BigEndian.AppendUint32(AppendHeader(b, 4, WindowUpdate, 0, stream), increment)
}

// AppendReset appends an RST_STREAM.
func AppendReset(b []byte, stream uint32, c Code) []byte {
	return binary.BigEndian.AppendUint32(AppendHeader(b, 4, RSTStream, 0, stream), uint32(c))
}

// AppendGoAway appends a GOAWAY: streams above last were not processed.
func AppendGoAway(b []byte, last uint32, c Code) []byte {
	b = binary.BigEndian.AppendUint32(AppendHeader(b, 8, GoAway, 0, 0), last)
	return binary.BigEndian.AppendUint32(b, uint32(c))
}
