// A full disk appears as an error of the system, of git or of the database.

const DATABASE = new Set([1021, 1114])
// `Errcode: 28` and `error 28` are how MariaDB writes ENOSPC.
const TEXT = /no space left on device|disk quota exceeded|err(or|code:?|no:?) "?28\b/i

interface AnyError {
  readonly code?: unknown
  readonly errno?: unknown
  readonly message?: unknown
  /** The stderr of git. */
  readonly stderr?: unknown
  readonly parent?: unknown
}

/** Returns true when the error means that the disk is full or the quota is exceeded. */
export function isDiskFull(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, errno, message, stderr, parent } = error as AnyError
  if (code === 'ENOSPC' || code === 'EDQUOT' || DATABASE.has(Number(errno))) return true
  return TEXT.test(String(message)) || TEXT.test(String(stderr)) || isDiskFull(parent)
}
