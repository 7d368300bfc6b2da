// The texts of the project that people read, by their paths below its root.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../src/config.js'

/** All files below a folder. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()
}

export const readText = (path: string) => readFileSync(join(root, path), 'utf8')

/** Every page in Markdown that the project wrote. */
export const pages: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'bench/README.md'].filter(page => existsSync(join(root, page))),
  ...['docs', 'src'].flatMap(filesBelow).filter(path => path.endsWith('.md'))
]

/** A file, or the files below a folder, that have texts for people. */
export const textsBelow = (path: string): string[] =>
  (statSync(join(root, path)).isFile() ? [path] : filesBelow(path)).filter(file => !/\.(png|svg|ico|zip)$/.test(file))
