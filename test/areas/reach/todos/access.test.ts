import { testAccess } from '../../../access/matrix.js'
import { access as todos } from './todos.access.js'

testAccess([todos])
