import { readdirSync } from 'node:fs'

const NAME = /^(\d{4}-.+)\.js$/

/** The names of all migrations, in order: the names of their files. Most processes only compare the names, and load no migration. */
export const migrationNames: readonly string[] = readdirSync(new URL('.', import.meta.url))
  .flatMap(file => NAME.exec(file)?.[1] ?? [])
  .sort()
