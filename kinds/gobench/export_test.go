package gobench

// LayoutSeed is for tests outside.
var LayoutSeed = layoutSeed
