//go:build !linux || (!amd64 && !arm64)

package http3

import "net"

// openSocket returns a UDP socket for QUIC connections. quic-go sends its packets one by one.
func openSocket(*net.UDPAddr) (net.PacketConn, error) { return net.ListenUDP("udp", nil) }
