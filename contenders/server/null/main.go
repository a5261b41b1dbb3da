// Command null is the server that does nothing that it need not: what is
// measured of it is the harness, the network and the kernel.
package main

import "github.com/tarebench/tare/contender/server"

func main() { server.Main(server.Apps{"tiny": server.Null("tiny"), "": server.Null("")}) }
