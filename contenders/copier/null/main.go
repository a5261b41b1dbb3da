// Command null is the copier that does nothing: what is measured of it is the
// harness.
package main

import "github.com/tarebench/tare/contender/copier"

func main() { copier.Main(copier.Null()) }
