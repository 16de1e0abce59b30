<?php

namespace App\Policies;

use App\Models\Order;
use App\Models\User;

class OrderPolicy
{
    /** Only the buyer, and only before the truck has left. */
    public function cancel(User $user, Order $order): bool
    {
        return $order->user_id === $user->id && ! $order->isShipped();
    }
}
