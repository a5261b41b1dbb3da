// Command null is the router that does nothing: what is measured of it is the
// harness.
package main

import "github.com/tarebench/tare/contender/router"

func main() { router.MainParts(router.Null) }
