package sqlpools

// Conclude is conclude.
var Conclude = conclude
