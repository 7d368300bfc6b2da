// A place in an area that areas above it fill, because imports only point down. src/product.ts fills all plugs.

import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from './once.js'

const outside = AsyncLocalStorage.snapshot()

/**
 * Returns a function that loads modules at the first call. It loads them outside of the caller's transaction and request: what a
 * module remembers of its surroundings when it is loaded would belong to the first caller for good.
 */
export const lazily = <T>(load: () => Promise<T>): (() => Promise<T>) => once(() => outside(load))

/** Returns the part and loads it at the first call. Throws in a process that has not composed the product. */
export type Plug<Part> = () => Promise<Part>

type Loaders = Readonly<Record<string, () => Promise<unknown>>>

let loaders: Loaders | undefined

/** Creates a plug. `name` is its key in src/product.ts. */
export function plug<Part>(name: string): Plug<Part> {
  let part: (() => Promise<Part>) | undefined
  return () => {
    const load = loaders?.[name]
    if (!load) throw new Error(`no ${name}: this process must call compose() of src/product.ts first`)
    part ??= lazily(load as () => Promise<Part>)
    return part()
  }
}

/** Fills all plugs of this process, by name. */
export function fillPlugs(parts: Loaders): void {
  loaders = parts
}
