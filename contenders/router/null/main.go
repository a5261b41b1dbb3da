// Command null is the router that does nothing: its measured cost is the cost of the
// measurement itself.
package main

import "github.com/tarebench/tare/contender/router"

func main() { router.MainParts(router.Null) }
