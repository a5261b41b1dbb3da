//go:build !linux || (!amd64 && !arm64)

package http3

import "net"

// openSocket returns a UDP socket for connections to an address. It is not connected and sends packets one by
// one.
func openSocket(*net.UDPAddr) (net.PacketConn, error) { return net.ListenUDP("udp", nil) }
