// The git processes that run for a repository, so that all of a folder can be ended at once.

const running = new Map<symbol, { readonly repository: string; readonly kill: () => void }>()

/** Notes a process. Returns the function that forgets it. */
export function noteRunning(repository: string | undefined, kill: () => void): () => void {
  if (repository === undefined) return () => undefined
  const key = Symbol(repository)
  running.set(key, { repository, kill })
  return () => void running.delete(key)
}

/** Ends all processes of repositories below a folder. */
export function endRunning(folder: string): void {
  for (const { repository, kill } of running.values()) if (repository.startsWith(`${folder}/`)) kill()
}
