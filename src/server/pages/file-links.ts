// Links to files, whose names may be so long that a page with all of their links would have hundreds of megabytes.

/** A longer path is too long for any request, in bytes. */
const LONGEST_PATH = 4096
/** Characters of the links of one page. */
const ROOM = 1_000_000
/** How many folders of a path are shown at its beginning, and as many at its end. */
const FOLDERS = 10

/** Returns a function that makes links until they fill a page. After that, and for a path that is too long, it returns null. */
export function limitedLinks<Args extends readonly unknown[]>(
  linkTo: (path: string, ...args: Args) => string
): (path: string, ...args: Args) => string | null {
  let room = ROOM
  return (path, ...args) => {
    if (room <= 0 || Buffer.byteLength(path) > LONGEST_PATH) return null
    const link = linkTo(path, ...args)
    room -= link.length
    return room < 0 ? null : link
  }
}

/** Returns the names of a path, each with the path to it. In the middle of many, one without a path stands for those left out. */
export function foldersOf(path: string): (readonly [name: string, path: string | null])[] {
  const names = path.split('/').filter(name => name !== '')
  const all = (from: number, to: number) =>
    names.slice(from, to).map((name, at) => [name, names.slice(0, from + at + 1).join('/')] as const)
  if (names.length <= 2 * FOLDERS) return all(0, names.length)
  return [...all(0, FOLDERS), ['…', null], ...all(names.length - FOLDERS, names.length)]
}
