// The slash commands `/todo` and `/done` of notes.
import { NotModified } from '../../../errors.js'
import type { DeferredCommands } from '../../planning/discussion/commands/deferred.js'
import { finishTodosOn, hasTodoOn, markTodo } from './todos.js'

export const todoCommands: DeferredCommands = {
  applies: async (name, { type, id, userId }) => {
    const has = await hasTodoOn({ type, id, projectId: 0 }, userId)
    return name === 'todo' ? !has : has
  },
  run: async (name, { type, id, projectId, userId }) => {
    const target = { type, id, projectId }
    if (name === 'done') return finishTodosOn(target, userId)
    try {
      await markTodo(target, userId)
    } catch (error) {
      // A note that mentions its author has already added one.
      if (!(error instanceof NotModified)) throw error
    }
  }
}
