// Command null is the copier that does nothing: its measured cost is the cost of the
// measurement itself.
package main

import "github.com/tarebench/tare/contender/copier"

func main() { copier.Main(copier.Null()) }
